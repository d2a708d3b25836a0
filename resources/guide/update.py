"""Write the command reference of the guide from the argument parsers: `python resources/guide/update.py`.

Writes command-line.md in each language. Options and their help are English in every language, as on the command line.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT))

from workbench import cli  # noqa: E402
from workbench.cli.verb_help import EXAMPLES, default_text  # noqa: E402

FILE = "command-line.md"
# Language -> title, introduction, table headings of commands, of arguments, title of the overview.
TEXTS = {
    "en": (
        "Commands",
        "Every command takes `--json`, which prints one object on standard output and nothing else there,\n"
        "`--debug`, which prints the traceback of a problem, and `--trust-sources`, which allows a project or data\n"
        "set to read images from the places outside of its folder that it names. Exit status: 0 success, 1 a\n"
        "problem, reported in one sentence, 2 wrong use. `workbench VERB --help` shows the options of a command,\n"
        "and `workbench --version` the version. Paths in JSON and in tables have slashes, on Windows too.\n"
        "Without a console, as with `pythonw`, a command does its work and writes no text; the exit status tells its\n"
        "success.",
        ("command", "purpose"),
        ("argument", "meaning"),
        "Overview",
    ),
    "zh_CN": (
        "命令参考",
        "所有命令都支持 `--json`（在标准输出上只输出一个 JSON 对象）、`--debug`（出现问题时输出调用栈），"
        "以及 `--trust-sources`（允许项目或数据集从其文件夹之外的位置读取图片）。"
        "退出状态：0 成功；1 出现问题，用一句话说明；2 用法错误。`workbench VERB --help` 显示一个命令的选项，"
        "`workbench --version` 显示版本。JSON 和表格中的路径一律使用正斜杠，Windows 上也是如此。"
        "没有控制台时（例如 `pythonw`），命令照常完成工作，但不输出文字；是否成功由退出状态表示。"
        "命令行只有英文，参数的说明与 `--help` 相同。",
        ("命令", "用途"),
        ("参数", "说明"),
        "命令一览",
    ),
}
# Chinese purpose of each verb.
CHINESE = {
    "demo": "创建示例项目，训练、评估、导出并检查",
    "create": "创建项目文件夹",
    "import": "导入其他工具的图片和标注",
    "labels": "导出标注供其他工具使用",
    "check": "检查项目中的标注错误、数据泄漏和损坏的文件",
    "statistics": "统计图片、类别和区域，并测量区域尺寸",
    "sources": "列出、添加、移除或定位项目的图片文件夹",
    "remove": "从项目中移除图片，或恢复已移除的图片",
    "merge": "合并另一个项目（例如已标注的副本）的标注",
    "pack": "将项目及其全部图片写入一个 zip 文件",
    "unpack": "解包已打包的项目",
    "train": "训练 UNet（缺陷分割）、ResNet（整图判定）或良品图片模型",
    "use": "显示或选择正在使用的模型；evaluate、predict、queue 和 export 默认使用它",
    "release": "核对导出及其之前的导出自写入以来没有改变，或重新训练并比较",
    "inbox": "列出产线保留的待标注图片，或把它们取入项目",
    "drift": "按小时和班次显示产线的结果，以及与参考时段相比的变化",
    "area": "显示或设置图片中的检测区域",
    "adopt": "将其他程序训练的分割网络（ONNX）作为训练记录添加到项目",
    "log": "将训练进度写给 TensorBoard、VisualDL 或 MLflow",
    "spots": "列出与图片其余部分差异最大的可疑点（有模型之前）",
    "queue": "列出推荐标注的图片或疑似标注错误，并说明原因",
    "evaluate": "在验证图片或测试图片上评估模型",
    "parts": "列出证明漏检和误报不超过某一上限需要多少零件，以及接下来标注哪些零件",
    "gauge": "用同一零件的重复图片检查模型前后是否一致，并与检验员的判定比较（判定一致性研究）",
    "predict": "用训练记录或导出的模型包预测图片",
    "export": "导出无需本软件即可运行的模型包",
    "serve": "通过 HTTP 提供导出的模型包",
    "doctor": "检查安装，并给出解决问题的方法",
}


def verb_parser(verb: str) -> argparse.ArgumentParser:
    """Return the parser of a verb, without the options that all verbs have."""
    parser = argparse.ArgumentParser(prog=f"workbench {verb}", add_help=False)
    cli.load(verb).add_arguments(parser)
    return parser


def reference(language: str) -> str:
    """Return the content of the command reference."""
    title, introduction, commands, arguments, overview = TEXTS[language]
    purposes = {verb: text for verb, (_, text) in cli.VERBS.items()}
    if language == "zh_CN":
        if missing := purposes.keys() - CHINESE.keys():
            raise SystemExit(f"CHINESE has no purpose of: {', '.join(sorted(missing))}")
        purposes |= CHINESE
    lines = [f"# {title}", "", introduction, "", f"## {overview}", "", *_head(*commands)]
    lines.append(f"| `workbench [PROJECT]` | {'open the window' if language == 'en' else '打开窗口'} |")
    lines += [f"| `workbench {verb}` | {_cell(text)} |" for verb, text in purposes.items()]
    for verb, purpose in purposes.items():
        parser = verb_parser(verb)
        lines += [
            "",
            f"## workbench {verb}",
            "",
            f"{purpose[0].upper()}{purpose[1:]}{'.' if language == 'en' else '。'}",
        ]
        shown = [action for action in parser._actions if action.help != argparse.SUPPRESS]
        actions = [action for action in shown if action.help or action.choices or action.option_strings]
        lines += ["", "```sh", _usage(parser), "```"]
        lines += ["", "```sh", *(f"workbench {example}" for example in EXAMPLES[verb]), "```"]
        if actions:
            lines += ["", *_head(*arguments), *map(_row, actions)]
    return "\n".join(lines) + "\n"


def _head(first: str, second: str) -> list[str]:
    return [f"| {first} | {second} |", "|---|---|"]


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def _value(action: argparse.Action) -> str:
    """Return the placeholder of an argument's value; "" for a switch."""
    if action.nargs == 0:
        return ""
    return action.metavar if isinstance(action.metavar, str) else action.dest.upper()


def _usage(parser: argparse.ArgumentParser) -> str:
    """Return the required arguments of a verb, and a placeholder of its options."""
    words, optional = [parser.prog], False
    for action in parser._actions:
        value = _value(action)
        if not action.option_strings:
            words.append({"?": f"[{value}]", "*": f"[{value} ...]", "+": f"{value} ..."}.get(str(action.nargs), value))
        elif action.required:
            words.append(f"{action.option_strings[-1]} {value}")
        else:
            optional = True
    return " ".join(words + ["[OPTIONS]"] * optional)


def _row(action: argparse.Action) -> str:
    options = ", ".join(f"{option} {_value(action)}".strip() for option in action.option_strings)
    name = (options or _value(action)).replace("|", "\\|")
    default = default_text(action)
    text = (action.help or "").replace("%%", "%") + (f" (default: {default})" if default else "")
    meaning = [_cell(text)] if text else []
    if action.choices is not None:
        meaning.append(" · ".join(f"`{choice}`" for choice in action.choices))
    return f"| `{name}` | {'. '.join(meaning)} |"


def main() -> int:
    for language in TEXTS:
        (HERE / language / FILE).write_text(reference(language), encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
