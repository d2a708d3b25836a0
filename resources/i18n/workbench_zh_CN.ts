<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>AboutDialog</name>
    <message>
        <source>About Defect Workbench</source>
        <translation>关于 Defect Workbench</translation>
    </message>
    <message>
        <source>Version {version}</source>
        <translation>版本 {version}</translation>
    </message>
    <message>
        <source>Label surface defects, train UNet and ResNet models on this workstation, evaluate the results and export a model for the production line. No data leaves this computer.</source>
        <translation>标注表面缺陷，在本机训练 UNet 和 ResNet 模型，评估结果，并导出用于产线的模型。数据不会离开本机。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>AccountBox</name>
    <message>
        <source>{unused} of {seen} {seen:image|images}</source>
        <translation>{seen} 张图片中的 {unused} 张</translation>
    </message>
    <message>
        <source>{unused} of {seen} label {seen:file|files}</source>
        <translation>{seen} 个标注文件中的 {unused} 个</translation>
    </message>
    <message>
        <source>{unused} of {seen} {seen:label entry|label entries}</source>
        <translation>{seen} 个标注条目中的 {unused} 个</translation>
    </message>
    <message>
        <source>Cannot be used: {what}.</source>
        <translation>无法使用：{what}。</translation>
    </message>
    <message>
        <source>{n} × {reason} ({place})</source>
        <translation>{n} × {reason}（{place}）</translation>
    </message>
    <message>
        <source>{n} {n:image gets its|images get their} readable labels, but {n:is|are} not marked as done.</source>
        <translation>{n} 张图片会得到可读取的标注，但不会标记为已完成。</translation>
    </message>
</context>
<context>
    <name>AdoptionDialog</name>
    <message>
        <source>Add model from file</source>
        <translation>从文件添加模型</translation>
    </message>
    <message>
        <source>Add model</source>
        <translation>添加模型</translation>
    </message>
    <message>
        <source>Adds a segmentation network in ONNX format as a run. It predicts, makes suggestions, is evaluated on the labeled images and can be exported. It cannot be trained further.</source>
        <translation>将 ONNX 格式的分割网络作为训练记录添加。它可以预测、给出预标注、在已标注的图片上评估并导出，但不能继续训练。</translation>
    </message>
    <message>
        <source>ONNX file</source>
        <translation>ONNX 文件</translation>
    </message>
    <message>
        <source>ONNX networks (*.onnx)</source>
        <translation>ONNX 网络 (*.onnx)</translation>
    </message>
    <message>
        <source>In the order of the output, without the background. “{mark}” for a class that is not used.</source>
        <translation>按输出顺序填写，不含背景。不使用的类别填“{mark}”。</translation>
    </message>
    <message>
        <source>Only if the network has several outputs</source>
        <translation>仅当网络有多个输出时填写</translation>
    </message>
    <message>
        <source>One number, or one for each channel: 0.485, 0.456, 0.406</source>
        <translation>一个数，或每个通道一个数：0.485, 0.456, 0.406</translation>
    </message>
    <message>
        <source>0 to 1</source>
        <translation>0 到 1</translation>
    </message>
    <message>
        <source>0 to 255</source>
        <translation>0 到 255</translation>
    </message>
    <message>
        <source>As declared by the network</source>
        <translation>按网络声明</translation>
    </message>
    <message>
        <source>Channels first (NCHW)</source>
        <translation>通道在前（NCHW）</translation>
    </message>
    <message>
        <source>Channels last (NHWC)</source>
        <translation>通道在后（NHWC）</translation>
    </message>
    <message>
        <source> px</source>
        <translation> 像素</translation>
    </message>
    <message>
        <source>Images are predicted in tiles of this size, if the network has no fixed size</source>
        <translation>网络没有固定尺寸时，图片按此尺寸分块预测</translation>
    </message>
    <message>
        <source>The sides of a tile are multiples of this number</source>
        <translation>分块的边长是此数的整数倍</translation>
    </message>
    <message>
        <source>Channels in the order &amp;blue, green, red</source>
        <translation>通道顺序为蓝、绿、红(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Output</source>
        <translation>输出(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Classes</source>
        <translation>类别(&amp;C)</translation>
    </message>
    <message>
        <source>Output &amp;name</source>
        <translation>输出名称(&amp;N)</translation>
    </message>
    <message>
        <source>Pixel &amp;values</source>
        <translation>像素值(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Mean</source>
        <translation>均值(&amp;M)</translation>
    </message>
    <message>
        <source>Standard &amp;deviation</source>
        <translation>标准差(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Layout</source>
        <translation>布局(&amp;L)</translation>
    </message>
    <message>
        <source>Tile &amp;size</source>
        <translation>分块尺寸(&amp;S)</translation>
    </message>
    <message>
        <source>M&amp;ultiple of</source>
        <translation>整数倍(&amp;U)</translation>
    </message>
    <message>
        <source>Probabilities of background and classes (softmax)</source>
        <translation>背景和各类别的概率（softmax）</translation>
    </message>
    <message>
        <source>Background and classes before the softmax (logits)</source>
        <translation>softmax 之前的背景和各类别（logits）</translation>
    </message>
    <message>
        <source>Independent probabilities of the classes (sigmoid)</source>
        <translation>各类别的独立概率（sigmoid）</translation>
    </message>
    <message>
        <source>Classes before the sigmoid (logits)</source>
        <translation>sigmoid 之前的各类别（logits）</translation>
    </message>
    <message>
        <source>Probability of one class</source>
        <translation>单个类别的概率</translation>
    </message>
    <message>
        <source>Number of the class at each pixel</source>
        <translation>每个像素的类别编号</translation>
    </message>
    <message>
        <source>Checking the network…</source>
        <translation>正在检查网络…</translation>
    </message>
    <message>
        <source>Canceled. No model was added.</source>
        <translation>已取消。未添加模型。</translation>
    </message>
    <message>
        <source>Added as {name}.</source>
        <translation>已添加为 {name}。</translation>
    </message>
</context>
<context>
    <name>AreaOutline</name>
    <message>
        <source>The part was not found: {why}</source>
        <translation>未找到零件：{why}</translation>
    </message>
</context>
<context>
    <name>BarMessage</name>
    <message>
        <source>Close message</source>
        <translation>关闭消息</translation>
    </message>
</context>
<context>
    <name>BulkActions</name>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Not done</source>
        <translation>未完成</translation>
    </message>
    <message>
        <source>Mark the selected images as done</source>
        <translation>将选中的图片标为已完成</translation>
    </message>
    <message>
        <source>Mark the selected images as not done</source>
        <translation>将选中的图片标为未完成</translation>
    </message>
    <message>
        <source>Data split</source>
        <translation>数据划分</translation>
    </message>
    <message>
        <source>Data split of the selected images and of their groups</source>
        <translation>选中图片及其分组的数据划分</translation>
    </message>
    <message>
        <source>No verdict</source>
        <translation>无判定</translation>
    </message>
    <message>
        <source>Set the verdict of the selected images: {name}</source>
        <translation>设置所选图片的判定：{name}</translation>
    </message>
    <message>
        <source>Remove the verdicts of the selected images</source>
        <translation>清除所选图片的判定</translation>
    </message>
</context>
<context>
    <name>Canvas</name>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Current image with labels. Press {key} for keyboard shortcuts.</source>
        <translation>当前图片及其标注。按 {key} 查看快捷键。</translation>
    </message>
    <message>
        <source>Image cannot be read</source>
        <translation>图片无法读取</translation>
    </message>
    <message>
        <source>Images are labeled here</source>
        <translation>在此处标注图片</translation>
    </message>
</context>
<context>
    <name>CanvasHeader</name>
    <message>
        <source>Labels</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>{number} of {count}</source>
        <translation>{number} / {count}</translation>
    </message>
</context>
<context>
    <name>CardGalleryView</name>
    <message>
        <source>Errors</source>
        <translation>错误</translation>
    </message>
</context>
<context>
    <name>CheckDialog</name>
    <message>
        <source>Check labels</source>
        <translation>检查标注</translation>
    </message>
    <message>
        <source>Kinds of findings</source>
        <translation>发现的问题类型</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>发现的问题</translation>
    </message>
    <message>
        <source>Save as CSV…</source>
        <translation>另存为 CSV…</translation>
    </message>
    <message>
        <source>Save findings</source>
        <translation>保存检查结果</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Find label errors, data leakage and damaged files. The check changes nothing.</source>
        <translation>查找标注错误、数据泄漏和损坏的文件。检查不会更改任何内容。</translation>
    </message>
    <message>
        <source>No problems found.</source>
        <translation>未发现问题。</translation>
    </message>
    <message>
        <source>{n} {n:problem|problems} found.</source>
        <translation>发现 {n} 个问题。</translation>
    </message>
    <message>
        <source>The project has changed since the check. Check again to update the list.</source>
        <translation>检查后项目已更改。请重新检查以更新列表。</translation>
    </message>
    <message>
        <source>{title} ({n})</source>
        <translation>{title}（{n}）</translation>
    </message>
    <message>
        <source>Selected findings: {n}</source>
        <translation>已选问题：{n} 个</translation>
    </message>
    <message>
        <source>All findings of this kind: {n}</source>
        <translation>此类型的全部问题：{n} 个</translation>
    </message>
    <message>
        <source>Checking images: {done} of {total}</source>
        <translation>正在检查图片：{done} / {total}</translation>
    </message>
    <message>
        <source>Comparing images…</source>
        <translation>正在比较图片…</translation>
    </message>
</context>
<context>
    <name>ClassBars</name>
    <message>
        <source>Images by class</source>
        <translation>各类别的图片数</translation>
    </message>
    <message>
        <source>No defects</source>
        <translation>没有缺陷</translation>
    </message>
</context>
<context>
    <name>ClassMergeCard</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Finish</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Interrupted: {what}</source>
        <translation>已中断：{what}</translation>
    </message>
    <message>
        <source>Progress of the class change</source>
        <translation>类别更改的进度</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>{names} – undoing</source>
        <translation>{names}：正在撤销</translation>
    </message>
    <message>
        <source>{names} – deleting</source>
        <translation>{names}：正在删除</translation>
    </message>
    <message>
        <source>{names} – merging into “{target}”</source>
        <translation>{names}：正在合并到“{target}”</translation>
    </message>
    <message>
        <source>{what}: {done} of {total} {total:mask|masks}, {time} left</source>
        <translation>{what}：已处理 {done} / {total} 个掩膜，剩余 {time}</translation>
    </message>
    <message>
        <source>{names} deleted from {n} {n:mask|masks}. The backup takes up to {size}.</source>
        <translation>已从 {n} 个掩膜中删除{names}。备份最多占用 {size}。</translation>
    </message>
    <message>
        <source>{names} merged into “{target}” in {n} {n:mask|masks}. The backup takes up to {size}.</source>
        <translation>已在 {n} 个掩膜中将{names}合并到“{target}”。备份最多占用 {size}。</translation>
    </message>
</context>
<context>
    <name>ClassMergeDialog</name>
    <message>
        <source>Merge “{name}” into another class</source>
        <translation>将“{name}”合并到另一类别</translation>
    </message>
    <message>
        <source>Delete the class “{name}”</source>
        <translation>删除类别“{name}”</translation>
    </message>
    <message>
        <source>Target class</source>
        <translation>目标类别</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>{regions} {regions:region|regions} ({pixels} {pixels:pixel|pixels}) in {images} {images:image|images} {regions:becomes|become} background.</source>
        <translation>{images} 张图片中的 {regions} 个区域（{pixels} 像素）将变为背景。</translation>
    </message>
    <message>
        <source>{regions} {regions:region|regions} ({pixels} {pixels:pixel|pixels}) in {images} {images:image|images} {regions:becomes|become} “{target}”.</source>
        <translation>{images} 张图片中的 {regions} 个区域（{pixels} 像素）将变为“{target}”。</translation>
    </message>
    <message>
        <source>The class is not used in any image. No masks change.</source>
        <translation>没有图片使用此类别，不会改动掩膜。</translation>
    </message>
    <message>
        <source>You can undo this. A backup of the current masks takes about {size}; those of the last {n} imports and merges are kept, up to {limit}.</source>
        <translation>可以撤销此操作。当前掩膜的备份约占 {size}；最近 {n} 次导入和合并的备份会保留，最多 {limit}。</translation>
    </message>
</context>
<context>
    <name>ClassTable</name>
    <message>
        <source>Metrics by class and defect size</source>
        <translation>按类别和缺陷尺寸统计的指标</translation>
    </message>
    <message>
        <source>Any defect</source>
        <translation>任意缺陷</translation>
    </message>
    <message>
        <source>Mean of classes</source>
        <translation>各类别平均</translation>
    </message>
    <message>
        <source>Too few defects to group by size</source>
        <translation>缺陷太少，无法按尺寸分组</translation>
    </message>
</context>
<context>
    <name>ClassesPanel</name>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>defect {n}</source>
        <translation>缺陷 {n}</translation>
    </message>
    <message>
        <source>Ignore</source>
        <translation>忽略</translation>
    </message>
    <message>
        <source>Paint areas that cannot be judged. They are excluded from training and metrics.</source>
        <translation>涂在无法判断的区域；不参与训练，也不计入指标。</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
    <message>
        <source>Classes are types of defects. Add a class, then paint.</source>
        <translation>类别即缺陷类型。请先添加类别，然后涂画。</translation>
    </message>
    <message>
        <source>Add class</source>
        <translation>添加类别</translation>
    </message>
    <message>
        <source>Color: {color}</source>
        <translation>颜色：{color}</translation>
    </message>
    <message>
        <source>Double-click or press {key} to rename. Click the color to change it.</source>
        <translation>双击或按 {key} 重命名。点击颜色可更换颜色。</translation>
    </message>
    <message>
        <source>{images} {images:image|images} · {regions} {regions:region|regions} · {pixels} {pixels:pixel|pixels}</source>
        <translation>{images} 张图片 · {regions} 个区域 · {pixels} 像素</translation>
    </message>
    <message>
        <source>Change color…</source>
        <translation>更换颜色…</translation>
    </message>
    <message>
        <source>Move up</source>
        <translation>上移</translation>
    </message>
    <message>
        <source>Move down</source>
        <translation>下移</translation>
    </message>
    <message>
        <source>Merge into…</source>
        <translation>合并到…</translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>删除…</translation>
    </message>
    <message>
        <source>Undo last merge or delete</source>
        <translation>撤销上一次合并或删除</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>隐藏</translation>
    </message>
    <message>
        <source>Unlock class</source>
        <translation>解锁类别</translation>
    </message>
    <message>
        <source>More colors…</source>
        <translation>更多颜色…</translation>
    </message>
    <message>
        <source>Lock class</source>
        <translation>锁定类别</translation>
    </message>
</context>
<context>
    <name>ClickModelField</name>
    <message>
        <source>Model…</source>
        <translation>模型…</translation>
    </message>
    <message>
        <source>Choose the ONNX files of the click model</source>
        <translation>选择点击分割模型的 ONNX 文件</translation>
    </message>
    <message>
        <source>Built-in network</source>
        <translation>内置网络</translation>
    </message>
    <message>
        <source>Preparing the image…</source>
        <translation>正在准备图片…</translation>
    </message>
    <message>
        <source>Checking the files…</source>
        <translation>正在检查文件…</translation>
    </message>
    <message>
        <source>Computing…</source>
        <translation>正在计算…</translation>
    </message>
    <message>
        <source>Cannot be used</source>
        <translation>无法使用</translation>
    </message>
</context>
<context>
    <name>ClickModelStatus</name>
    <message>
        <source>The built-in network is used unless both files are chosen.</source>
        <translation>未选择两个文件时使用内置网络。</translation>
    </message>
    <message>
        <source>Checking the files…</source>
        <translation>正在检查文件…</translation>
    </message>
    <message>
        <source>The files can be used: {name}.</source>
        <translation>文件可用：{name}。</translation>
    </message>
    <message>
        <source>The files are loaded at the first click.</source>
        <translation>文件在第一次点击时加载。</translation>
    </message>
</context>
<context>
    <name>CoachMarks</name>
    <message>
        <source>Skip</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>{number} of {count}</source>
        <translation>{number} / {count}</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>{n} {n:image is|images are} listed here. {image} is open.</source>
        <translation>这里列出 {n} 张图片，{image} 已打开。</translation>
    </message>
    <message>
        <source>Paint the defects of {image} with the brush, or with another tool on the left.</source>
        <translation>用画笔或左侧的其他工具涂出 {image} 的缺陷。</translation>
    </message>
    <message>
        <source>This button always names what helps most, and does it.</source>
        <translation>这个按钮始终给出当前最有用的一步，点击即可执行。</translation>
    </message>
    <message>
        <source>Choose the class that you paint. + adds another one.</source>
        <translation>选择要涂画的类别，点击 + 添加类别。</translation>
    </message>
    <message>
        <source>Marks the image as done and opens the next one. Unpainted, it is good.</source>
        <translation>将图片标为已完成并打开下一张。不涂画即为良品。</translation>
    </message>
    <message>
        <source>Two images with defects and ten good images are enough for a training.</source>
        <translation>两张缺陷图片和十张良品图片就可以训练。</translation>
    </message>
    <message>
        <source>Your images</source>
        <translation>你的图片</translation>
    </message>
    <message>
        <source>Next step</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Paint</source>
        <translation>涂画</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>训练</translation>
    </message>
</context>
<context>
    <name>CollapsibleSection</name>
    <message>
        <source>Fold or unfold this section</source>
        <translation>折叠或展开此部分</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Search commands</source>
        <translation>搜索命令</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>No matching commands</source>
        <translation>没有匹配的命令</translation>
    </message>
</context>
<context>
    <name>ComparedRuns</name>
    <message>
        <source>Remove from comparison</source>
        <translation>从比较中移除</translation>
    </message>
</context>
<context>
    <name>ComparisonDialog</name>
    <message>
        <source>Compare runs</source>
        <translation>比较训练记录</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>&amp;Save report…</source>
        <translation>保存报告(&amp;S)…</translation>
    </message>
    <message>
        <source>&amp;Export second run</source>
        <translation>导出第二个训练记录(&amp;E)</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>&amp;First run</source>
        <translation>第一条训练记录(&amp;F)</translation>
    </message>
    <message>
        <source>Sec&amp;ond run</source>
        <translation>第二条训练记录(&amp;O)</translation>
    </message>
    <message>
        <source>{run} (last export)</source>
        <translation>{run}（最近的导出）</translation>
    </message>
    <message>
        <source>Choose two different runs.</source>
        <translation>请选择两条不同的训练记录。</translation>
    </message>
    <message>
        <source>Evaluating both runs on the same images…</source>
        <translation>正在相同图片上评估两条训练记录…</translation>
    </message>
    <message>
        <source>Canceled.</source>
        <translation>已取消。</translation>
    </message>
    <message>
        <source>Measured on {n} {n:image|images} of {parts} {parts:part|parts} that neither run was trained on.</source>
        <translation>指标在 {n} 张图片（{parts} 个零件）上测得，两条训练记录均未使用这些图片训练。</translation>
    </message>
</context>
<context>
    <name>ConcernList</name>
    <message>
        <source>Invert the masks</source>
        <translation>反转掩膜</translation>
    </message>
    <message>
        <source>Leave out this class</source>
        <translation>不导入此类别</translation>
    </message>
    <message>
        <source>{sentence}.</source>
        <translation>{sentence}。</translation>
    </message>
</context>
<context>
    <name>ConfusionTable</name>
    <message>
        <source>Confusion matrix</source>
        <translation>混淆矩阵</translation>
    </message>
    <message>
        <source>background</source>
        <translation>背景</translation>
    </message>
    <message>
        <source>missed</source>
        <translation>漏检</translation>
    </message>
    <message>
        <source>Label ↓  Prediction →</source>
        <translation>标注 ↓  预测 →</translation>
    </message>
    <message>
        <source>no labels</source>
        <translation>无标注</translation>
    </message>
    <message>
        <source>{n} {n:region|regions} labeled {label} and predicted correctly</source>
        <translation>{n} 个标注为 {label} 的区域预测正确</translation>
    </message>
    <message>
        <source>{n} {n:region|regions}; label: {label}, prediction: {predicted}</source>
        <translation>{n} 个区域；标注：{label}，预测：{predicted}</translation>
    </message>
    <message>
        <source>{n} {n:image|images} labeled {label} and predicted correctly</source>
        <translation>{n} 张标注为“{label}”的图片预测正确</translation>
    </message>
    <message>
        <source>{n} {n:image|images} labeled {label} but predicted as {predicted}</source>
        <translation>{n} 张标注为“{label}”的图片被预测为“{predicted}”</translation>
    </message>
</context>
<context>
    <name>ContinuousSwitch</name>
    <message>
        <source>Continuous training</source>
        <translation>持续训练</translation>
    </message>
    <message>
        <source>1 label added</source>
        <translation>已加入 1 个标注</translation>
    </message>
    <message>
        <source>{n} skipped</source>
        <translation>已跳过 {n} 个</translation>
    </message>
    <message>
        <source>Label changed: used for training from this point</source>
        <translation>标注已修改：从此刻起用于训练</translation>
    </message>
    <message>
        <source>{n} labels added</source>
        <translation>已加入 {n} 个标注</translation>
    </message>
    <message>
        <source>After the time limit, training continues with new labels until you stop it. You can export the best model at any time.</source>
        <translation>到时后用新标注继续训练，直到停止；期间可随时导出最佳模型。</translation>
    </message>
    <message>
        <source>New image: used for training from this point</source>
        <translation>新图片：从此刻起用于训练</translation>
    </message>
    <message>
        <source>Label removed: no longer used for training</source>
        <translation>标注已删除：不再用于训练</translation>
    </message>
</context>
<context>
    <name>CurveExport</name>
    <message>
        <source>Save curves as image</source>
        <translation>将曲线保存为图片</translation>
    </message>
    <message>
        <source>Save curves as table</source>
        <translation>将曲线保存为表格</translation>
    </message>
</context>
<context>
    <name>CurveLegend</name>
    <message>
        <source>Show the whole run (double-click a curve)</source>
        <translation>显示完整训练过程（双击曲线）</translation>
    </message>
    <message>
        <source>Save curves</source>
        <translation>保存曲线</translation>
    </message>
    <message>
        <source>Save as image (PNG)…</source>
        <translation>保存为图片（PNG）…</translation>
    </message>
    <message>
        <source>Save as table (CSV)…</source>
        <translation>保存为表格（CSV）…</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
</context>
<context>
    <name>DefectBrowser</name>
    <message>
        <source>Label</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>Prediction</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>No missed defects at this operating point</source>
        <translation>此工作点下没有漏检</translation>
    </message>
    <message>
        <source>No false alarms at this operating point</source>
        <translation>此工作点下没有误报</translation>
    </message>
    <message>
        <source>No such images at this operating point</source>
        <translation>此工作点没有这类图片</translation>
    </message>
    <message>
        <source>Defective</source>
        <translation>有缺陷</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>良品</translation>
    </message>
    <message>
        <source>{label} → {verdict}  {n}</source>
        <translation>{label} → {verdict}  {n}</translation>
    </message>
    <message>
        <source>predicted as {name}</source>
        <translation>预测为 {name}</translation>
    </message>
    <message>
        <source>Missed defects  {n}</source>
        <translation>漏检  {n}</translation>
    </message>
    <message>
        <source>False alarms  {n}</source>
        <translation>误报  {n}</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Images  {n}</source>
        <translation>图片  {n}</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Less than 10% covered</source>
        <translation>覆盖不足 10%</translation>
    </message>
    <message>
        <source>Max. probability {probability}</source>
        <translation>最高概率 {probability}</translation>
    </message>
    <message>
        <source>Probability {probability}</source>
        <translation>概率 {probability}</translation>
    </message>
</context>
<context>
    <name>DisplayPanel</name>
    <message>
        <source>Gamma</source>
        <translation>伽马</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Invert</source>
        <translation>反相</translation>
    </message>
    <message>
        <source>Flat field</source>
        <translation>平场校正</translation>
    </message>
    <message>
        <source>Local contrast</source>
        <translation>局部对比度</translation>
    </message>
    <message>
        <source>Channel</source>
        <translation>通道</translation>
    </message>
    <message>
        <source>Red</source>
        <translation>红</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>绿</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>蓝</translation>
    </message>
    <message>
        <source>Display presets of the project</source>
        <translation>项目的显示预设</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>保存…</translation>
    </message>
    <message>
        <source>Save the display settings as a preset of the project</source>
        <translation>将当前显示设置保存为项目预设</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete the selected preset</source>
        <translation>删除所选预设</translation>
    </message>
    <message>
        <source>Drag the handles to set black and white. On the image: Shift + right drag</source>
        <translation>拖动两端设置黑点和白点。在图片上：Shift + 右键拖动</translation>
    </message>
    <message>
        <source>Invert gray values</source>
        <translation>反转灰度值</translation>
    </message>
    <message>
        <source>Correct uneven illumination</source>
        <translation>校正光照不均</translation>
    </message>
    <message>
        <source>Auto contrast</source>
        <translation>自动对比度</translation>
    </message>
    <message>
        <source>Stretch to the minimum and maximum gray value</source>
        <translation>拉伸到最小和最大灰度值</translation>
    </message>
    <message>
        <source>Show the original gray values; 16-bit images with their typical range</source>
        <translation>显示原始灰度；16 位图片按典型灰度范围显示</translation>
    </message>
    <message>
        <source>Black point</source>
        <translation>黑点</translation>
    </message>
    <message>
        <source>Gray values up to this value are shown black</source>
        <translation>不高于此值的灰度显示为黑色</translation>
    </message>
    <message>
        <source>White point</source>
        <translation>白点</translation>
    </message>
    <message>
        <source>Gray values from this value upwards are shown white</source>
        <translation>不低于此值的灰度显示为白色</translation>
    </message>
    <message>
        <source>Values above 1 brighten dark areas</source>
        <translation>大于 1 时提亮暗部</translation>
    </message>
    <message>
        <source>Enhance faint structures locally (CLAHE)</source>
        <translation>局部增强微弱结构（CLAHE）</translation>
    </message>
    <message>
        <source>Color map</source>
        <translation>色图</translation>
    </message>
    <message>
        <source>All channels</source>
        <translation>所有通道</translation>
    </message>
    <message>
        <source>Gray</source>
        <translation>灰度</translation>
    </message>
    <message>
        <source>Rainbow</source>
        <translation>彩虹</translation>
    </message>
    <message>
        <source>Viridis</source>
        <translation>Viridis</translation>
    </message>
    <message>
        <source>Magma</source>
        <translation>Magma</translation>
    </message>
    <message>
        <source>Heat</source>
        <translation>热力</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Save display preset</source>
        <translation>保存显示预设</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Open an image first</source>
        <translation>请先打开一张图片</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>The image has one channel only</source>
        <translation>图片只有一个通道</translation>
    </message>
    <message>
        <source>Select a preset first</source>
        <translation>请先选择一个预设</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Reset display</source>
        <translation>重置显示</translation>
    </message>
</context>
<context>
    <name>DoneButton</name>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>This image is marked as done. Click to mark it as not done.</source>
        <translation>此图片已标为已完成。点击可改为未完成。</translation>
    </message>
    <message>
        <source>Mark the image as done and open the next one</source>
        <translation>将此图片标为已完成并打开下一张</translation>
    </message>
</context>
<context>
    <name>DriftDialog</name>
    <message>
        <source>Results over time</source>
        <translation>结果随时间的变化</translation>
    </message>
    <message>
        <source>Folder of --log-jsonl or of results</source>
        <translation>--log-jsonl 所在文件夹或结果文件夹</translation>
    </message>
    <message>
        <source>Rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>By shift</source>
        <translation>按班次</translation>
    </message>
    <message>
        <source>By hour</source>
        <translation>按小时</translation>
    </message>
    <message>
        <source>Station</source>
        <translation>工位</translation>
    </message>
    <message>
        <source>All stations</source>
        <translation>全部工位</translation>
    </message>
    <message>
        <source>Hours of the reference</source>
        <translation>参考时段的小时数</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source> h</source>
        <translation> 小时</translation>
    </message>
    <message>
        <source>The first hours with images, with which the others are compared</source>
        <translation>最先有图片的若干小时，其余时段与之比较</translation>
    </message>
    <message>
        <source>Use selected rows as reference</source>
        <translation>以选中的行为参考时段</translation>
    </message>
    <message>
        <source>Periods</source>
        <translation>时段</translation>
    </message>
    <message>
        <source>Last images that are not OK</source>
        <translation>最近的非 OK 图片</translation>
    </message>
    <message>
        <source>Save shift report…</source>
        <translation>保存班次报告…</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>刷新</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Reference</source>
        <translation>参考时段</translation>
    </message>
    <message>
        <source>No results are shown</source>
        <translation>没有显示结果</translation>
    </message>
    <message>
        <source>Choose the folder in which the line writes its results.</source>
        <translation>请选择产线写入结果的文件夹。</translation>
    </message>
    <message>
        <source>Select rows of the table</source>
        <translation>请选择表中的行</translation>
    </message>
    <message>
        <source>Images by class, selected row</source>
        <translation>各类别的图片数（所选行）</translation>
    </message>
    <message>
        <source>Images by class</source>
        <translation>各类别的图片数</translation>
    </message>
    <message>
        <source>The image is not here</source>
        <translation>图片不在此处</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>网页 (*.html)</translation>
    </message>
    <message>
        <source>PDF document (*.pdf)</source>
        <translation>PDF 文档 (*.pdf)</translation>
    </message>
    <message>
        <source>Save report</source>
        <translation>保存报告</translation>
    </message>
</context>
<context>
    <name>EditMenu</name>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>There is nothing to undo</source>
        <translation>没有可撤销的操作</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>There is nothing to redo</source>
        <translation>没有可重做的操作</translation>
    </message>
    <message>
        <source>&amp;History</source>
        <translation>历史(&amp;H)</translation>
    </message>
    <message>
        <source>Open an image first</source>
        <translation>请先打开一张图片</translation>
    </message>
    <message>
        <source>Editing steps of the current image. Click a step to return to it.</source>
        <translation>当前图片的编辑步骤。点击某一步即可恢复到该步。</translation>
    </message>
    <message>
        <source>Copy &amp;labels from previous image</source>
        <translation>复制上一张图片的标注(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Search images</source>
        <translation>搜索图片(&amp;S)</translation>
    </message>
    <message>
        <source>Find &amp;command…</source>
        <translation>查找命令(&amp;C)…</translation>
    </message>
    <message>
        <source>Search all commands by name, and run one</source>
        <translation>按名称搜索全部命令并执行</translation>
    </message>
    <message>
        <source>Settin&amp;gs…</source>
        <translation>设置(&amp;G)…</translation>
    </message>
</context>
<context>
    <name>EmptyProjectPage</name>
    <message>
        <source>Drop images or folders here</source>
        <translation>将图片或文件夹拖到此处</translation>
    </message>
    <message>
        <source>Images are copied into the project. The original files are not changed.</source>
        <translation>图片会复制到项目中，原文件不变。</translation>
    </message>
    <message>
        <source>Add images…</source>
        <translation>添加图片…</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>添加文件夹…</translation>
    </message>
</context>
<context>
    <name>EmptyQueuePage</name>
    <message>
        <source>Show all images</source>
        <translation>显示所有图片</translation>
    </message>
    <message>
        <source>No images left in this list</source>
        <translation>列表中没有剩余图片</translation>
    </message>
</context>
<context>
    <name>ErrorDetails</name>
    <message>
        <source>Unexpected error</source>
        <translation>意外错误</translation>
    </message>
    <message>
        <source>Details of the error</source>
        <translation>错误的详细信息</translation>
    </message>
    <message>
        <source>Log folder: {path}</source>
        <translation>日志文件夹：{path}</translation>
    </message>
    <message>
        <source>Show log folder</source>
        <translation>打开日志文件夹</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>EvaluationNotices</name>
    <message>
        <source>{n} {n:image|images} of {parts} {parts:part|parts}.</source>
        <translation>{parts} 个零件的 {n} 张图片。</translation>
    </message>
    <message>
        <source>The operating point is being adjusted on these images, so the metrics are slightly optimistic.</source>
        <translation>正在这些图片上调整工作点，因此指标略偏乐观。</translation>
    </message>
    <message>
        <source>Test images were not used for any choice.</source>
        <translation>测试图片未参与任何选择。</translation>
    </message>
    <message>
        <source>The model was added from a file. Whether it was trained on these images is not known.</source>
        <translation>该模型从文件添加，不清楚它是否用这些图片训练过。</translation>
    </message>
    <message>
        <source>These images were not used in training or for any choice.</source>
        <translation>这些图片未用于训练，也未用于任何选择。</translation>
    </message>
    <message>
        <source>Choose the operating point on validation images; otherwise test metrics become optimistic.</source>
        <translation>请在验证图片上选择工作点，否则测试指标会偏乐观。</translation>
    </message>
    <message>
        <source>Skipped images: {n} ({names})</source>
        <translation>已跳过的图片：{n} 张（{names}）</translation>
    </message>
    <message>
        <source>Data leakage: {n} {n:image shows a part that was|images show parts that were} used in training, so the metrics are too high.</source>
        <translation>数据泄漏：{n} 张图片的零件参与过训练，指标偏高。</translation>
    </message>
</context>
<context>
    <name>EvaluationPage</name>
    <message>
        <source>Not used for training or any choice. These metrics are unbiased.</source>
        <translation>未参与训练和任何选择，指标无偏。</translation>
    </message>
    <message>
        <source>Recalculate after label changes; predictions are reused</source>
        <translation>标注修改后重新计算，沿用已有预测</translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>Not used to fit the model. Checkpoint and thresholds are chosen on these images.</source>
        <translation>未用于训练模型；检查点和阈值根据这些图片选定。</translation>
    </message>
    <message>
        <source>Recalculate</source>
        <translation>重新计算</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>返回图片</translation>
    </message>
    <message>
        <source>Back to the image</source>
        <translation>返回图片</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>比较…</translation>
    </message>
    <message>
        <source>Compare with another run on the same images</source>
        <translation>在相同图片上与另一训练记录比较</translation>
    </message>
    <message>
        <source>Save report…</source>
        <translation>保存报告…</translation>
    </message>
    <message>
        <source>Save metrics, curves and the largest errors as a web page or a PDF file</source>
        <translation>将指标、曲线和最严重的错误保存为网页或 PDF 文件</translation>
    </message>
    <message>
        <source>Parts…</source>
        <translation>零件数量…</translation>
    </message>
    <message>
        <source>How many parts are needed to prove a bound on missed parts and false alarms</source>
        <translation>证明漏检和误报不超过某一上限需要多少零件</translation>
    </message>
    <message>
        <source>Validation  {n}</source>
        <translation>验证  {n}</translation>
    </message>
    <message>
        <source>Test  {n}</source>
        <translation>测试  {n}</translation>
    </message>
    <message>
        <source>This run has no validation images</source>
        <translation>此训练记录没有验证图片</translation>
    </message>
    <message>
        <source>This run has no test images</source>
        <translation>此训练记录没有测试图片</translation>
    </message>
</context>
<context>
    <name>EvaluationPlaceholder</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>All labeled images were used for training, so the quality on other images is unknown. Label images of more parts and train again; some are then used for validation.</source>
        <translation>全部已标注图片都参与了训练，无法评估其他图片上的效果。请标注更多零件的图片后重新训练，其中一部分将用于验证。</translation>
    </message>
    <message>
        <source>Train a model first. The evaluation then shows every missed defect and every false alarm on images that were not used for training, and you can set the probability threshold of a defect.</source>
        <translation>请先训练模型。评估随后会显示未用于训练的图片上的所有漏检和误报，并可设置缺陷的概率阈值。</translation>
    </message>
    <message>
        <source>Data leakage between training and validation images</source>
        <translation>训练图片与验证图片之间存在数据泄漏</translation>
    </message>
    <message>
        <source>{n} of {total} {total:image|images} {n:shows|show} the same part or the same image as training data, so the metrics would be too high. Assign these images to one group, or set a grouping pattern for the project, then train again.</source>
        <translation>{total} 张中有 {n} 张与训练数据是同一零件或同一图片，指标会偏高。请将它们归入同一分组，或为项目设置分组表达式，然后重新训练。</translation>
    </message>
    <message>
        <source>{held} shows the same part as {learned}</source>
        <translation>{held} 与 {learned} 是同一个零件</translation>
    </message>
    <message>
        <source>Show metrics anyway</source>
        <translation>仍然显示指标</translation>
    </message>
    <message>
        <source>Data leakage</source>
        <translation>数据泄漏</translation>
    </message>
    <message>
        <source>Label more images</source>
        <translation>标注更多图片</translation>
    </message>
    <message>
        <source>Train a model</source>
        <translation>训练模型</translation>
    </message>
    <message>
        <source>Predicting validation/test images</source>
        <translation>正在预测验证/测试图片</translation>
    </message>
    <message>
        <source>Predictions are saved, so the next evaluation of this run opens immediately.</source>
        <translation>预测结果会保存，下次评估此训练记录可立即打开。</translation>
    </message>
    <message>
        <source>No validation or test images</source>
        <translation>没有验证或测试图片</translation>
    </message>
    <message>
        <source>Evaluation failed</source>
        <translation>评估失败</translation>
    </message>
    <message>
        <source>The validation/test images or their labels cannot be read. See the messages for the reason.</source>
        <translation>无法读取验证/测试图片或其标注。原因请查看消息。</translation>
    </message>
    <message>
        <source>No run to evaluate</source>
        <translation>没有可评估的训练记录</translation>
    </message>
    <message>
        <source>{held} is the same image as {learned}</source>
        <translation>{held} 与 {learned} 是同一张图片</translation>
    </message>
    <message>
        <source>{held} is nearly identical to {learned}</source>
        <translation>{held} 与 {learned} 几乎相同</translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <translation>{done} / {total}</translation>
    </message>
    <message>
        <source>{progress}, {time} left</source>
        <translation>{progress}，剩余 {time}</translation>
    </message>
</context>
<context>
    <name>EvaluationReports</name>
    <message>
        <source>A report is being saved</source>
        <translation>正在保存报告</translation>
    </message>
    <message>
        <source>Train a model first</source>
        <translation>请先训练模型</translation>
    </message>
    <message>
        <source>The evaluation is not complete</source>
        <translation>评估尚未完成</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>网页 (*.html)</translation>
    </message>
    <message>
        <source>PDF document (*.pdf)</source>
        <translation>PDF 文档 (*.pdf)</translation>
    </message>
    <message>
        <source>Save report</source>
        <translation>保存报告</translation>
    </message>
    <message>
        <source>Train two models of the same kind first</source>
        <translation>请先训练两个同类模型</translation>
    </message>
</context>
<context>
    <name>EvaluationSide</name>
    <message>
        <source>Metrics and operating point</source>
        <translation>指标与工作点</translation>
    </message>
</context>
<context>
    <name>ExpectationBar</name>
    <message>
        <source>Show or hide the metrics with each change of lighting</source>
        <translation>显示或隐藏各种光照变化时的指标</translation>
    </message>
</context>
<context>
    <name>ExportOptionsDialog</name>
    <message>
        <source>Export model</source>
        <translation>导出模型</translation>
    </message>
    <message>
        <source>Current operating point</source>
        <translation>当前工作点</translation>
    </message>
    <message>
        <source>Fewer missed defects</source>
        <translation>减少漏检</translation>
    </message>
    <message>
        <source>Custom probability</source>
        <translation>自定义概率</translation>
    </message>
    <message>
        <source>Full precision: same results as the trained model</source>
        <translation>全精度：结果与训练的模型相同</translation>
    </message>
    <message>
        <source>Folders for other programs</source>
        <translation>供其他程序使用的文件夹</translation>
    </message>
    <message>
        <source>Reduced precision: smaller, often faster, slightly different results</source>
        <translation>低精度：文件更小，通常更快，结果略有差异</translation>
    </message>
    <message>
        <source>The loss of quality is measured on labeled images. Formats that lose too much are not exported.</source>
        <translation>精度损失在已标注图片上测量；损失过大的格式不会导出。</translation>
    </message>
    <message>
        <source>Typical image size</source>
        <translation>常见图片尺寸</translation>
    </message>
    <message>
        <source>Custom size</source>
        <translation>自定义尺寸</translation>
    </message>
    <message>
        <source>Image width in pixels</source>
        <translation>图片宽度（像素）</translation>
    </message>
    <message>
        <source>Image height in pixels</source>
        <translation>图片高度（像素）</translation>
    </message>
    <message>
        <source>Image &amp;size (width × height)</source>
        <translation>图片尺寸（宽 × 高）(&amp;S)</translation>
    </message>
    <message>
        <source>Fewer false alarms</source>
        <translation>减少误报</translation>
    </message>
    <message>
        <source>Minimum probability of a defect</source>
        <translation>缺陷的最低概率</translation>
    </message>
    <message>
        <source>No target</source>
        <translation>无要求</translation>
    </message>
    <message>
        <source> ms</source>
        <translation> 毫秒</translation>
    </message>
    <message>
        <source>&amp;Detection threshold</source>
        <translation>检出阈值(&amp;D)</translation>
    </message>
    <message>
        <source>Max. &amp;time per image</source>
        <translation>每张图片最长用时(&amp;T)</translation>
    </message>
    <message>
        <source>Measured on this computer with an image of typical size</source>
        <translation>在本机用常见尺寸的图片测得</translation>
    </message>
    <message>
        <source>&amp;Language of the model card</source>
        <translation>模型卡语言(&amp;L)</translation>
    </message>
    <message>
        <source>The image size is too large.</source>
        <translation>图片尺寸过大。</translation>
    </message>
    <message>
        <source>Select at least one format.</source>
        <translation>请至少选择一种格式。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
</context>
<context>
    <name>ExportQuestion</name>
    <message>
        <source>Export model</source>
        <translation>导出模型</translation>
    </message>
    <message>
        <source>Export {model}?</source>
        <translation>导出 {model}？</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Export anyway</source>
        <translation>仍然导出</translation>
    </message>
</context>
<context>
    <name>ExportReport</name>
    <message>
        <source>Export report</source>
        <translation>导出报告</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Agreement with training</source>
        <translation>与训练结果的一致性</translation>
    </message>
    <message>
        <source>Time per image</source>
        <translation>每张图片用时</translation>
    </message>
    <message>
        <source>On labeled images</source>
        <translation>已标注图片上的指标</translation>
    </message>
    <message>
        <source>probability ± {deviation}</source>
        <translation>概率 ± {deviation}</translation>
    </message>
    <message>
        <source>Not exported: {why}</source>
        <translation>未导出：{why}</translation>
    </message>
</context>
<context>
    <name>FindingModel</name>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Finding</source>
        <translation>问题</translation>
    </message>
</context>
<context>
    <name>FindingRepairs</name>
    <message>
        <source>Remove from project…</source>
        <translation>从项目中移除…</translation>
    </message>
    <message>
        <source>Put into one group</source>
        <translation>归入同一分组</translation>
    </message>
    <message>
        <source>Move mask to trash</source>
        <translation>将掩膜移到回收站</translation>
    </message>
    <message>
        <source>Move to trash</source>
        <translation>移到回收站</translation>
    </message>
    <message>
        <source>Locate folder…</source>
        <translation>定位文件夹…</translation>
    </message>
    <message>
        <source>Move note to trash</source>
        <translation>将备注文件移到回收站</translation>
    </message>
    <message>
        <source>Set verdict to folder name</source>
        <translation>将判定设为文件夹名称</translation>
    </message>
    <message>
        <source>Erase tiny regions</source>
        <translation>擦除微小区域</translation>
    </message>
    <message>
        <source>Fill holes</source>
        <translation>填充孔洞</translation>
    </message>
    <message>
        <source>Delete classes</source>
        <translation>删除类别</translation>
    </message>
    <message>
        <source>Merge…</source>
        <translation>合并…</translation>
    </message>
</context>
<context>
    <name>GaugeDialog</name>
    <message>
        <source>Gauge study</source>
        <translation>判定一致性研究</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Folder of the images</source>
        <translation>图片文件夹</translation>
    </message>
    <message>
        <source>All images of the project</source>
        <translation>项目的全部图片</translation>
    </message>
    <message>
        <source>In the same folder</source>
        <translation>位于同一文件夹</translation>
    </message>
    <message>
        <source>With the same match of a pattern in their names</source>
        <translation>文件名中与模式匹配的部分相同</translation>
    </message>
    <message>
        <source>Verdicts of inspectors</source>
        <translation>检验员的判定</translation>
    </message>
    <message>
        <source>Optional</source>
        <translation>可选</translation>
    </message>
    <message>
        <source>Tables (*.csv *.tsv *.txt)</source>
        <translation>表格 (*.csv *.tsv *.txt)</translation>
    </message>
    <message>
        <source>First column: part or image. Each other column: an inspector, with the name as its heading. Several rows of the same part are repeats.</source>
        <translation>第一列：零件或图片。其余每列：一名检验员，标题为其姓名。同一零件的多行是重复判定。</translation>
    </message>
    <message>
        <source>&amp;Images</source>
        <translation>图片(&amp;I)</translation>
    </message>
    <message>
        <source>Images of the same &amp;part</source>
        <translation>同一零件的图片(&amp;P)</translation>
    </message>
    <message>
        <source>Pa&amp;ttern</source>
        <translation>模式(&amp;T)</translation>
    </message>
    <message>
        <source>I&amp;nspectors</source>
        <translation>检验员(&amp;N)</translation>
    </message>
    <message>
        <source>Agreement</source>
        <translation>一致性</translation>
    </message>
    <message>
        <source>Parts with different verdicts</source>
        <translation>判定不同的零件</translation>
    </message>
    <message>
        <source>Save evaluation report…</source>
        <translation>保存评估报告…</translation>
    </message>
    <message>
        <source>The study is a section of the evaluation report of this run</source>
        <translation>该研究是此训练记录评估报告中的一节</translation>
    </message>
    <message>
        <source>Gauge study of {run}</source>
        <translation>{run} 的判定一致性研究</translation>
    </message>
    <message>
        <source>{done} of {total} images predicted</source>
        <translation>已预测 {done} / {total} 张图片</translation>
    </message>
    <message>
        <source>Take several images of each part, and let inspectors judge the same parts. The study tells how often the model gives the same part the same verdict, and how well it agrees with the inspectors.</source>
        <translation>对每个零件多次拍照，并请检验员判定同样的零件。该研究说明模型对同一零件给出相同判定的频率，以及与检验员的一致程度。</translation>
    </message>
</context>
<context>
    <name>GpuCheckDialog</name>
    <message>
        <source>Check GPU</source>
        <translation>检查 GPU</translation>
    </message>
    <message>
        <source>Reading the driver…</source>
        <translation>正在读取驱动信息…</translation>
    </message>
    <message>
        <source>GPU {n}:</source>
        <translation>GPU {n}：</translation>
    </message>
    <message>
        <source>does not respond ({why}). Restart the computer.</source>
        <translation>无响应（{why}）。请重启计算机。</translation>
    </message>
    <message>
        <source>{driver}, up to CUDA {cuda}</source>
        <translation>{driver}，最高支持 CUDA {cuda}</translation>
    </message>
    <message>
        <source>Driver:</source>
        <translation>驱动：</translation>
    </message>
    <message>
        <source>Install the matching PaddlePaddle:</source>
        <translation>安装匹配的 PaddlePaddle：</translation>
    </message>
    <message>
        <source>Check the installation:</source>
        <translation>检查安装：</translation>
    </message>
    <message>
        <source>Test the GPU (a few minutes, writes gpu-report.md):</source>
        <translation>测试 GPU（需要几分钟，结果写入 gpu-report.md）：</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>No NVIDIA GPU can be used. Training runs on the CPU.</source>
        <translation>没有可用的 NVIDIA GPU，将在 CPU 上训练。</translation>
    </message>
    <message>
        <source>The environment variable CUDA_VISIBLE_DEVICES hides the GPU. Training runs on the CPU.</source>
        <translation>环境变量 CUDA_VISIBLE_DEVICES 隐藏了 GPU，将在 CPU 上训练。</translation>
    </message>
    <message>
        <source>PaddlePaddle does not support this GPU. Training runs on the CPU.</source>
        <translation>PaddlePaddle 不支持此 GPU，将在 CPU 上训练。</translation>
    </message>
    <message>
        <source>The NVIDIA driver is too old. Update it to version {n} or newer.</source>
        <translation>NVIDIA 驱动过旧，请更新到 {n} 或更高版本。</translation>
    </message>
    <message>
        <source>The installed PaddlePaddle does not use the GPU.</source>
        <translation>已安装的 PaddlePaddle 不使用 GPU。</translation>
    </message>
    <message>
        <source>The installed PaddlePaddle was built for other GPUs or drivers.</source>
        <translation>已安装的 PaddlePaddle 适用于其他 GPU 或驱动。</translation>
    </message>
    <message>
        <source>Training can use the GPU.</source>
        <translation>训练可以使用 GPU。</translation>
    </message>
    <message>
        <source>not installed</source>
        <translation>未安装</translation>
    </message>
    <message>
        <source>{version}, for CPUs only</source>
        <translation>{version}，仅支持 CPU</translation>
    </message>
    <message>
        <source>{version}, for CUDA {cuda}</source>
        <translation>{version}，适用于 CUDA {cuda}</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>{n} GiB</source>
        <translation>{n} GiB</translation>
    </message>
    <message>
        <source>compute capability {n}</source>
        <translation>计算能力 {n}</translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
</context>
<context>
    <name>GuideWindow</name>
    <message>
        <source>Guide</source>
        <translation>使用指南</translation>
    </message>
    <message>
        <source>Search the guide</source>
        <translation>搜索使用指南</translation>
    </message>
    <message>
        <source>Contents</source>
        <translation>目录</translation>
    </message>
    <message>
        <source>Page of the guide</source>
        <translation>使用指南页面</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>后退</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前进</translation>
    </message>
</context>
<context>
    <name>HeadlineMetrics</name>
    <message>
        <source>good images: {rate}</source>
        <translation>良品图片：{rate}</translation>
    </message>
</context>
<context>
    <name>HelpMenu</name>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;First steps</source>
        <translation>入门步骤(&amp;F)</translation>
    </message>
    <message>
        <source>From images to an exported model, step by step</source>
        <translation>从图片到导出模型的操作步骤</translation>
    </message>
    <message>
        <source>&amp;Tour of the window</source>
        <translation>窗口导览(&amp;T)</translation>
    </message>
    <message>
        <source>Explain the parts of the window one after another</source>
        <translation>依次介绍窗口的各个部分</translation>
    </message>
    <message>
        <source>Show the &amp;controls</source>
        <translation>界面引导(&amp;C)</translation>
    </message>
    <message>
        <source>Point at the controls of a first project, one after another</source>
        <translation>依次指出第一个项目所需的控件</translation>
    </message>
    <message>
        <source>G&amp;uide</source>
        <translation>使用指南(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Keyboard shortcuts</source>
        <translation>快捷键(&amp;K)</translation>
    </message>
    <message>
        <source>Check &amp;GPU…</source>
        <translation>检查 GPU(&amp;G)…</translation>
    </message>
    <message>
        <source>Show GPU, driver and the commands that install and test GPU training</source>
        <translation>显示 GPU、驱动以及安装和测试 GPU 训练的命令</translation>
    </message>
    <message>
        <source>Show &amp;log folder</source>
        <translation>打开日志文件夹(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;About Defect Workbench</source>
        <translation>关于 Defect Workbench(&amp;A)</translation>
    </message>
</context>
<context>
    <name>HistoryPanel</name>
    <message>
        <source>History</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>Editing steps of the current image. Click a step to return to it.</source>
        <translation>当前图片的编辑步骤。点击某一步即可恢复到该步。</translation>
    </message>
</context>
<context>
    <name>IgnoredBorder</name>
    <message>
        <source>Ignored at the border, px</source>
        <translation>忽略边缘（px）</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>The area within this distance of the image border is ignored for the anomaly score and the verdict. The training chooses the distance on the validation images.</source>
        <translation>距图片边缘不超过此距离的区域不计入异常分数和判定。训练会根据验证图片选择该距离。</translation>
    </message>
</context>
<context>
    <name>ImageConfusionPanel</name>
    <message>
        <source>Missed defective images</source>
        <translation>漏检的缺陷图片</translation>
    </message>
    <message>
        <source>Images with a labeled defect that get the verdict of a good image</source>
        <translation>标注有缺陷、却判定为良品的图片</translation>
    </message>
    <message>
        <source>False alarms on good images</source>
        <translation>良品图片的误报</translation>
    </message>
    <message>
        <source>Images without a labeled defect that are rejected</source>
        <translation>没有标注缺陷、却被拒收的图片</translation>
    </message>
    <message>
        <source>Label ↓  Verdict →</source>
        <translation>标注 ↓  判定 →</translation>
    </message>
    <message>
        <source>OK</source>
        <translation>OK</translation>
    </message>
    <message>
        <source>Unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>NG</source>
        <translation>NG</translation>
    </message>
    <message>
        <source>Good</source>
        <translation>良品</translation>
    </message>
    <message>
        <source>Defective</source>
        <translation>有缺陷</translation>
    </message>
    <message>
        <source>{n} defective {n:image|images}</source>
        <translation>{n} 张有缺陷的图片</translation>
    </message>
    <message>
        <source>{n} good {n:image|images}</source>
        <translation>{n} 张良品图片</translation>
    </message>
    <message>
        <source>{images}. Click to see them.</source>
        <translation>{images}。点击查看。</translation>
    </message>
    <message>
        <source>No such images at this operating point</source>
        <translation>此工作点没有这类图片</translation>
    </message>
    <message>
        <source>Without a verdict rule an image with a region is NG.</source>
        <translation>没有判定规则时，有区域的图片判定为 NG。</translation>
    </message>
    <message>
        <source>no defective image held out</source>
        <translation>验证/测试图片中没有缺陷图片</translation>
    </message>
    <message>
        <source>no good image held out</source>
        <translation>验证/测试图片中没有良品图片</translation>
    </message>
    <message>
        <source>Not measured</source>
        <translation>未测量</translation>
    </message>
    <message>
        <source>{n} of {total}  ·  {share}</source>
        <translation>{n} / {total}  ·  {share}</translation>
    </message>
    <message>
        <source>Cost of these errors: {cost} false {cost:alarm|alarms}; a missed image counts as {ratio}</source>
        <translation>这些错误的代价：{cost} 次误报；漏检一张图片计为 {ratio} 次</translation>
    </message>
</context>
<context>
    <name>ImageContextMenu</name>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Mark as done</source>
        <translation>标为已完成</translation>
    </message>
    <message>
        <source>Mark as not done</source>
        <translation>标为未完成</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>No verdict</source>
        <translation>无判定</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <source>Copy path</source>
        <translation>复制路径</translation>
    </message>
    <message>
        <source>Remove from project…</source>
        <translation>从项目中移除…</translation>
    </message>
</context>
<context>
    <name>ImageDelegate</name>
    <message>
        <source>Unreadable</source>
        <translation>无法读取</translation>
    </message>
</context>
<context>
    <name>ImageFilters</name>
    <message>
        <source>Image filter</source>
        <translation>图片筛选</translation>
    </message>
    <message>
        <source>Filter the image list</source>
        <translation>筛选图片列表</translation>
    </message>
    <message>
        <source>Sort order</source>
        <translation>排序方式</translation>
    </message>
    <message>
        <source>Sort order of the image list</source>
        <translation>图片列表的排序方式</translation>
    </message>
    <message>
        <source>Descending</source>
        <translation>降序</translation>
    </message>
    <message>
        <source>Sort in descending order</source>
        <translation>按降序排列</translation>
    </message>
    <message>
        <source>Label next</source>
        <translation>推荐标注</translation>
    </message>
    <message>
        <source>Images that would improve the model most, with the reason for each</source>
        <translation>对提升模型最有帮助的图片及推荐理由</translation>
    </message>
    <message>
        <source>Thumbnail view</source>
        <translation>缩略图视图</translation>
    </message>
    <message>
        <source>Show all listed images as thumbnails</source>
        <translation>以缩略图显示列表中的全部图片</translation>
    </message>
</context>
<context>
    <name>ImageListModel</name>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>By status</source>
        <translation>按状态</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>By verdict</source>
        <translation>按判定</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>By number of classes</source>
        <translation>按类别数</translation>
    </message>
    <message>
        <source>Regions</source>
        <translation>区域</translation>
    </message>
    <message>
        <source>By number of regions</source>
        <translation>按区域数</translation>
    </message>
    <message>
        <source>Labeled area (px²)</source>
        <translation>标注面积（px²）</translation>
    </message>
    <message>
        <source>By labeled area</source>
        <translation>按标注面积</translation>
    </message>
    <message>
        <source>Defect probability</source>
        <translation>缺陷概率</translation>
    </message>
    <message>
        <source>By defect probability</source>
        <translation>按缺陷概率</translation>
    </message>
    <message>
        <source>By date</source>
        <translation>按日期</translation>
    </message>
    <message>
        <source>All images</source>
        <translation>所有图片</translation>
    </message>
    <message>
        <source>Not done</source>
        <translation>未完成</translation>
    </message>
    <message>
        <source>In progress</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>With defects</source>
        <translation>有缺陷</translation>
    </message>
    <message>
        <source>Done, without defects</source>
        <translation>已完成，无缺陷</translation>
    </message>
    <message>
        <source>Unreadable</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>New</source>
        <translation>新图片</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>日期</translation>
    </message>
</context>
<context>
    <name>ImageMenu</name>
    <message>
        <source>&amp;Image</source>
        <translation>图片(&amp;I)</translation>
    </message>
    <message>
        <source>&amp;Verdict</source>
        <translation>判定(&amp;V)</translation>
    </message>
    <message>
        <source>Set verdict &amp;and go to next</source>
        <translation>判定并转到下一张(&amp;A)</translation>
    </message>
    <message>
        <source>Add verd&amp;ict</source>
        <translation>添加判定(&amp;I)</translation>
    </message>
    <message>
        <source>Add a verdict: a result for a whole image, such as OK or NG</source>
        <translation>添加判定，即整张图片的结果，例如 OK 或 NG</translation>
    </message>
    <message>
        <source>Sho&amp;w in folder</source>
        <translation>在文件夹中显示(&amp;W)</translation>
    </message>
    <message>
        <source>Show the image file in the file browser of the system</source>
        <translation>在系统文件管理器中显示图片文件</translation>
    </message>
    <message>
        <source>Cop&amp;y path</source>
        <translation>复制路径(&amp;Y)</translation>
    </message>
    <message>
        <source>Copy the path of the current image, or of the selected thumbnails</source>
        <translation>复制当前图片或选中缩略图的路径</translation>
    </message>
    <message>
        <source>Remove from pro&amp;ject…</source>
        <translation>从项目中移除(&amp;J)…</translation>
    </message>
    <message>
        <source>Remove the current image, or the selected thumbnails, with their labels</source>
        <translation>移除当前图片或所选缩略图及其标注</translation>
    </message>
    <message>
        <source>Mark as &amp;done and next</source>
        <translation>标为已完成并转到下一张(&amp;D)</translation>
    </message>
    <message>
        <source>Mark the current image as done and open the next image</source>
        <translation>将当前图片标为已完成，并打开下一张</translation>
    </message>
    <message>
        <source>&amp;Mark as done</source>
        <translation>标为已完成(&amp;M)</translation>
    </message>
    <message>
        <source>Mark the current image, or the selected thumbnails, as done</source>
        <translation>将当前图片或选中的缩略图标为已完成</translation>
    </message>
    <message>
        <source>Mark as not d&amp;one</source>
        <translation>标为未完成(&amp;O)</translation>
    </message>
    <message>
        <source>The image is not marked as done</source>
        <translation>此图片未标为已完成</translation>
    </message>
    <message>
        <source>Separate good and defe&amp;ctive images</source>
        <translation>区分良品和缺陷图片(&amp;C)</translation>
    </message>
    <message>
        <source>Show all images as thumbnails: {good} good, {defective} defective, {skip} next</source>
        <translation>以缩略图显示全部图片：{good} 良品，{defective} 有缺陷，{skip} 下一张</translation>
    </message>
    <message>
        <source>Paint defective images</source>
        <translation>涂画缺陷图片</translation>
    </message>
    <message>
        <source>List the images in progress, and open the next one whose defects are not painted</source>
        <translation>列出进行中的图片，并打开下一张缺陷尚未涂画的图片</translation>
    </message>
    <message>
        <source>T&amp;here are no good images</source>
        <translation>没有良品图片(&amp;H)</translation>
    </message>
    <message>
        <source>Good images are no longer requested; false alarms are then not measured</source>
        <translation>不再要求良品图片；此时不测量误报</translation>
    </message>
    <message>
        <source>Open an image first</source>
        <translation>请先打开一张图片</translation>
    </message>
    <message>
        <source>The image file has one page only</source>
        <translation>图片文件只有一页</translation>
    </message>
    <message>
        <source>&amp;Next image</source>
        <translation>下一张图片(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Previous image</source>
        <translation>上一张图片(&amp;P)</translation>
    </message>
    <message>
        <source>Next &amp;unlabeled image</source>
        <translation>下一张未标注图片(&amp;U)</translation>
    </message>
    <message>
        <source>Previous unla&amp;beled image</source>
        <translation>上一张未标注图片(&amp;B)</translation>
    </message>
    <message>
        <source>Next image no&amp;t done</source>
        <translation>下一张未完成的图片(&amp;T)</translation>
    </message>
    <message>
        <source>Next un&amp;readable image</source>
        <translation>下一张无法读取的图片(&amp;R)</translation>
    </message>
    <message>
        <source>Next page of &amp;file</source>
        <translation>文件的下一页(&amp;F)</translation>
    </message>
    <message>
        <source>Next page of a multi-page file. Labels belong to the first page.</source>
        <translation>多页文件的下一页。标注属于第一页。</translation>
    </message>
    <message>
        <source>Previous pa&amp;ge of file</source>
        <translation>文件的上一页(&amp;G)</translation>
    </message>
    <message>
        <source>Open the list of possible label errors first</source>
        <translation>请先打开疑似标注错误列表</translation>
    </message>
    <message>
        <source>&amp;Label next</source>
        <translation>推荐标注(&amp;L)</translation>
    </message>
    <message>
        <source>Images that would improve the model most, with the reason for each</source>
        <translation>对提升模型最有帮助的图片及推荐理由</translation>
    </message>
    <message>
        <source>Possible label &amp;errors</source>
        <translation>疑似标注错误(&amp;E)</translation>
    </message>
    <message>
        <source>Train a model first</source>
        <translation>请先训练模型</translation>
    </message>
    <message>
        <source>Labels that a confident model contradicts, most severe first</source>
        <translation>与高置信度预测不一致的标注，最可疑的在前</translation>
    </message>
    <message>
        <source>Use model result</source>
        <translation>采用模型结果</translation>
    </message>
    <message>
        <source>Replace the flagged label with the prediction</source>
        <translation>用预测结果替换疑似错误的标注</translation>
    </message>
    <message>
        <source>&amp;Keep my label</source>
        <translation>保留我的标注(&amp;K)</translation>
    </message>
    <message>
        <source>Keep the flagged label. It will not be flagged again.</source>
        <translation>保留疑似错误的标注，不再提示。</translation>
    </message>
    <message>
        <source>Ne&amp;xt flagged region</source>
        <translation>下一处疑似标注错误(&amp;X)</translation>
    </message>
    <message>
        <source>Verdict {n}</source>
        <translation>判定 {n}</translation>
    </message>
    <message>
        <source>No verdict has this number</source>
        <translation>没有此编号的判定</translation>
    </message>
    <message>
        <source>Verdict {n} and next</source>
        <translation>判定 {n} 并转到下一张</translation>
    </message>
    <message>
        <source>&amp;Automatic</source>
        <translation>自动(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Training set</source>
        <translation>训练集(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Validation set</source>
        <translation>验证集(&amp;V)</translation>
    </message>
    <message>
        <source>T&amp;est set</source>
        <translation>测试集(&amp;E)</translation>
    </message>
    <message>
        <source>Takes effect at the next training. All images of the same part move together.</source>
        <translation>下次训练起生效；同一零件的所有图片一起调整。</translation>
    </message>
    <message>
        <source>Data &amp;split</source>
        <translation>数据划分(&amp;S)</translation>
    </message>
</context>
<context>
    <name>ImagePreview</name>
    <message>
        <source>Large view</source>
        <translation>放大视图</translation>
    </message>
</context>
<context>
    <name>ImageTableView</name>
    <message>
        <source>Metrics by image</source>
        <translation>按图片统计的指标</translation>
    </message>
</context>
<context>
    <name>ImageVerdictPanel</name>
    <message>
        <source>Unsure above, px²</source>
        <translation>高于此值为不确定（px²）</translation>
    </message>
    <message>
        <source>Avoid missed images</source>
        <translation>避免漏检</translation>
    </message>
    <message>
        <source>Image verdict</source>
        <translation>图片判定</translation>
    </message>
    <message>
        <source>The detection threshold decides which regions are drawn. The rule decides which images are rejected.</source>
        <translation>检出阈值决定绘制哪些区域，规则决定拒收哪些图片。</translation>
    </message>
    <message>
        <source>No verdict</source>
        <translation>无判定</translation>
    </message>
    <message>
        <source>Limit false alarms</source>
        <translation>限制误报</translation>
    </message>
    <message>
        <source>Lowest cost</source>
        <translation>最低代价</translation>
    </message>
    <message>
        <source>Anomaly score</source>
        <translation>异常分数</translation>
    </message>
    <message>
        <source>Verdict rule</source>
        <translation>判定规则</translation>
    </message>
    <message>
        <source>Rule by which predictions and exports of this run reject an image</source>
        <translation>此训练记录的预测和导出模型拒收图片的规则</translation>
    </message>
    <message>
        <source>False alarms in 100 good images</source>
        <translation>每 100 张良品图片的误报数</translation>
    </message>
    <message>
        <source>Chooses the threshold of the anomaly score so that at most this many good images are rejected</source>
        <translation>选择异常分数的阈值，使拒收的良品图片不超过此数</translation>
    </message>
    <message>
        <source>Cost of a missed image in false alarms</source>
        <translation>一张漏检的缺陷图片相当于多少次误报</translation>
    </message>
    <message>
        <source>Chooses the threshold of the anomaly score with the lowest cost on these images</source>
        <translation>选择在这些图片上代价最低的异常分数阈值</translation>
    </message>
    <message>
        <source>Reject above, px²</source>
        <translation>高于此值拒收（px²）</translation>
    </message>
    <message>
        <source>Anomaly score: area of all regions of an image, weighted by the probability</source>
        <translation>异常分数：图片中所有区域按概率加权的面积</translation>
    </message>
    <message>
        <source>Verdict of a rejected image</source>
        <translation>拒收图片的判定</translation>
    </message>
    <message>
        <source>Predominant class</source>
        <translation>主要类别</translation>
    </message>
    <message>
        <source>A fixed verdict, or the class with the greatest share in the anomaly score</source>
        <translation>固定的判定，或在异常分数中占比最大的类别</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Images that are not rejected, but have an anomaly score above this, are left to a person</source>
        <translation>未被拒收但异常分数高于此值的图片由人工判断</translation>
    </message>
    <message>
        <source>Greatest value with which no defective one of these images passes as OK</source>
        <translation>使这些图片中没有缺陷图片被判为 OK 的最大值</translation>
    </message>
    <message>
        <source>This rule rejects none of the defective images.</source>
        <translation>此规则没有拒收任何缺陷图片。</translation>
    </message>
    <message>
        <source>No image with a defect is among these images</source>
        <translation>这些图片中没有缺陷图片</translation>
    </message>
    <message>
        <source>Defective images rejected: {counts}</source>
        <translation>拒收的缺陷图片：{counts}</translation>
    </message>
    <message>
        <source>Good images rejected: {counts}</source>
        <translation>拒收的良品图片：{counts}</translation>
    </message>
    <message>
        <source>AUROC of the anomaly score: {value} ({interval})</source>
        <translation>异常分数的 AUROC：{value}（{interval}）</translation>
    </message>
    <message>
        <source>Of the rejected images, to be reworked: {n}</source>
        <translation>拒收的图片中需返工：{n}</translation>
    </message>
    <message>
        <source>Unsure has no effect: images are rejected from this score on.</source>
        <translation>“不确定”不起作用：从该分数起图片已被拒收。</translation>
    </message>
    <message>
        <source>Unsure: {n} {n:image|images}; missed defective images: {missed}</source>
        <translation>不确定：{n} 张；漏检的缺陷图片：{missed} 张</translation>
    </message>
    <message>
        <source>Number, size and place of regions</source>
        <translation>区域的数量、尺寸和位置</translation>
    </message>
    <message>
        <source>Threshold of the anomaly score: {n} px²</source>
        <translation>异常分数的阈值：{n} px²</translation>
    </message>
    <message>
        <source>Upper limit of false alarms on new parts: {limit}. Lowest limit that can be shown with {n} {n:part|parts}: {least}.</source>
        <translation>新零件上的误报上限：{limit}。用 {n} 个零件能证明的最低上限：{least}。</translation>
    </message>
</context>
<context>
    <name>ImagesPanel</name>
    <message>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>This is the first image. Enter marks it as done and opens the next one.</source>
        <translation>这是第一张图片。按 Enter 将其标记为已完成，并打开下一张。</translation>
    </message>
    <message>
        <source>No listed image is left to mark as done.</source>
        <translation>列表中没有待标记为已完成的图片。</translation>
    </message>
    <message>
        <source>No listed image is left to label.</source>
        <translation>列表中没有待标注的图片。</translation>
    </message>
    <message>
        <source>No listed image is unreadable.</source>
        <translation>列表中没有无法读取的图片。</translation>
    </message>
    <message>
        <source>No such image is listed.</source>
        <translation>列表中没有这样的图片。</translation>
    </message>
    <message>
        <source>{n} images</source>
        <translation>{n} 张图片</translation>
    </message>
    <message>
        <source>1 image</source>
        <translation>1 张图片</translation>
    </message>
    <message>
        <source>{shown} of {total} {total:image|images}</source>
        <translation>{shown} / {total} 张图片</translation>
    </message>
    <message>
        <source>{images} · {done} done</source>
        <translation>{images} · 已完成 {done}</translation>
    </message>
</context>
<context>
    <name>ImportDialog</name>
    <message>
        <source>Import labels</source>
        <translation>导入标注</translation>
    </message>
    <message>
        <source>Add images only</source>
        <translation>仅添加图片</translation>
    </message>
    <message>
        <source>Undo import</source>
        <translation>撤销导入</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>None of these labels can be imported. The reasons are listed above.</source>
        <translation>这些标注都无法导入，原因见上方列表。</translation>
    </message>
    <message>
        <source>{images} {images:image|images}: {matched} in the project, {new} new</source>
        <translation>{images} 张图片：项目中已有 {matched} 张，新增 {new} 张</translation>
    </message>
    <message>
        <source>{n} {n:image|images} with labels</source>
        <translation>{n} 张图片有标注</translation>
    </message>
    <message>
        <source>{n} bounding {n:box|boxes}</source>
        <translation>{n} 个边界框</translation>
    </message>
    <message>
        <source>The labels do not exist.</source>
        <translation>标注不存在。</translation>
    </message>
    <message>
        <source>Unsaved labels could not be saved, so the import was not started.</source>
        <translation>有标注未能保存，因此未开始导入。</translation>
    </message>
    <message>
        <source>Import canceled. Nothing was changed.</source>
        <translation>导入已取消，未做任何更改。</translation>
    </message>
    <message>
        <source>Reading labels: {done} of {total}</source>
        <translation>正在读取标注：{done} / {total}</translation>
    </message>
    <message>
        <source>Importing: {done} of {total}, about {time} left</source>
        <translation>正在导入：{done} / {total}，约剩 {time}</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Canceling…</source>
        <translation>正在取消…</translation>
    </message>
</context>
<context>
    <name>ImportOptionsRow</name>
    <message>
        <source>automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Gray value from which a pixel of a mask is a defect</source>
        <translation>掩膜像素达到该灰度值即视为缺陷</translation>
    </message>
    <message>
        <source>from the labels</source>
        <translation>取自标注</translation>
    </message>
    <message>
        <source>Every value of the masks becomes this one class, as for masks that number single objects.</source>
        <translation>掩膜中的所有值都作为这一个类别，适用于给单个对象编号的掩膜。</translation>
    </message>
    <message>
        <source>For text files that are not UTF-8 and do not name their encoding</source>
        <translation>用于既不是 UTF-8 也未注明编码的文本文件</translation>
    </message>
    <message>
        <source>Copy new images into the project</source>
        <translation>将新图片复制到项目中</translation>
    </message>
    <message>
        <source>Otherwise the images stay in their folder, and the project refers to it.</source>
        <translation>否则图片保留在原文件夹中，由项目引用。</translation>
    </message>
    <message>
        <source>In YOLO data sets, an image without a text file has no defects.</source>
        <translation>在 YOLO 数据集中，没有文本文件的图片表示没有缺陷。</translation>
    </message>
    <message>
        <source>Whole box</source>
        <translation>整个框</translation>
    </message>
    <message>
        <source>Ellipse in the box</source>
        <translation>框内椭圆</translation>
    </message>
    <message>
        <source>Pixels that stand out in the box</source>
        <translation>框内突出的像素</translation>
    </message>
    <message>
        <source>Keep existing labels</source>
        <translation>保留已有标注</translation>
    </message>
    <message>
        <source>Replace existing labels</source>
        <translation>替换已有标注</translation>
    </message>
    <message>
        <source>Add regions to existing labels</source>
        <translation>在已有标注中补充区域</translation>
    </message>
    <message>
        <source>&amp;Bounding boxes become</source>
        <translation>边界框转换为(&amp;B)</translation>
    </message>
    <message>
        <source>These images are not marked as done.</source>
        <translation>这些图片不会标为已完成。</translation>
    </message>
    <message>
        <source>&amp;Threshold of masks</source>
        <translation>掩膜阈值(&amp;T)</translation>
    </message>
    <message>
        <source>F&amp;ormat</source>
        <translation>格式(&amp;O)</translation>
    </message>
    <message>
        <source>One &amp;class for all masks</source>
        <translation>所有掩膜使用一个类别(&amp;C)</translation>
    </message>
    <message>
        <source>Not recognized</source>
        <translation>未识别</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Western (Windows-1252)</source>
        <translation>西欧（Windows-1252）</translation>
    </message>
    <message>
        <source>Simplified Chinese (GB18030)</source>
        <translation>简体中文（GB18030）</translation>
    </message>
    <message>
        <source>Traditional Chinese (Big5)</source>
        <translation>繁体中文（Big5）</translation>
    </message>
    <message>
        <source>Japanese (Shift-JIS)</source>
        <translation>日文（Shift-JIS）</translation>
    </message>
    <message>
        <source>Japanese (EUC)</source>
        <translation>日文（EUC）</translation>
    </message>
    <message>
        <source>Korean (CP949)</source>
        <translation>韩文（CP949）</translation>
    </message>
    <message>
        <source>Cyrillic (Windows-1251)</source>
        <translation>西里尔文（Windows-1251）</translation>
    </message>
    <message>
        <source>Cyrillic (KOI8-R)</source>
        <translation>西里尔文（KOI8-R）</translation>
    </message>
    <message>
        <source>Cyrillic (CP866)</source>
        <translation>西里尔文（CP866）</translation>
    </message>
    <message>
        <source>&amp;Encoding</source>
        <translation>编码(&amp;E)</translation>
    </message>
    <message>
        <source>Also found: {formats}</source>
        <translation>还发现：{formats}</translation>
    </message>
    <message>
        <source>{n} {n:image is|images are} labeled already</source>
        <translation>{n} 张图片已有标注</translation>
    </message>
    <message>
        <source>Import the data split ({splits})</source>
        <translation>导入数据划分（{splits}）</translation>
    </message>
    <message>
        <source>Images without a label ({n}) have no defects: import them as done</source>
        <translation>没有标注的图片（{n} 张）没有缺陷：导入为已完成</translation>
    </message>
    <message>
        <source>{file} as {encoding}: {names}</source>
        <translation>{file} 按 {encoding} 读取：{names}</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>test</source>
        <translation>测试</translation>
    </message>
</context>
<context>
    <name>ImportResult</name>
    <message>
        <source>{n} {n:image|images} labeled, {skipped} skipped</source>
        <translation>已标注 {n} 张图片，跳过 {skipped} 个</translation>
    </message>
    <message>
        <source>{n} {n:image|images} labeled</source>
        <translation>已标注 {n} 张图片</translation>
    </message>
    <message>
        <source>{n} {n:image|images} copied into the project.</source>
        <translation>已将 {n} 张图片复制到项目中。</translation>
    </message>
    <message>
        <source>New classes: {names}.</source>
        <translation>新增类别：{names}。</translation>
    </message>
    <message>
        <source>New verdicts: {names}.</source>
        <translation>新增判定：{names}。</translation>
    </message>
    <message>
        <source>{n} existing {n:label|labels} changed.</source>
        <translation>更改了 {n} 个已有标注。</translation>
    </message>
    <message>
        <source>{n} existing {n:label|labels} kept.</source>
        <translation>保留了 {n} 个已有标注。</translation>
    </message>
    <message>
        <source>{n} {n:region comes from a bounding box|regions come from bounding boxes}. Check these images and mark them as done.</source>
        <translation>{n} 个区域来自边界框。请检查这些图片并标为已完成。</translation>
    </message>
    <message>
        <source>{undo} undoes the import. To train on the labels, click Train.</source>
        <translation>按 {undo} 可撤销导入。要用这些标注训练，请点击“开始训练”。</translation>
    </message>
</context>
<context>
    <name>InboxDialog</name>
    <message>
        <source>Inbox</source>
        <translation>收件箱</translation>
    </message>
    <message>
        <source>Folder of --inbox</source>
        <translation>--inbox 的文件夹</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>Kept because</source>
        <translation>保留原因</translation>
    </message>
    <message>
        <source>Kept images</source>
        <translation>保留的图片</translation>
    </message>
    <message>
        <source>Take as suggestions</source>
        <translation>作为预标注取入</translation>
    </message>
    <message>
        <source>The predicted regions become suggestions, to be corrected and accepted</source>
        <translation>预测的区域成为预标注，可修正后接受</translation>
    </message>
    <message>
        <source>Accept predictions</source>
        <translation>接受预测结果</translation>
    </message>
    <message>
        <source>The predictions become the labels of the images</source>
        <translation>预测结果成为图片的标注</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Images that the server or a watched folder keeps with --inbox. No image is taken twice.</source>
        <translation>服务或监视文件夹用 --inbox 保留的图片。任何图片都不会取入两次。</translation>
    </message>
    <message>
        <source>NG</source>
        <translation>NG</translation>
    </message>
    <message>
        <source>unlike the training</source>
        <translation>与训练不符</translation>
    </message>
    <message>
        <source>sample</source>
        <translation>抽样</translation>
    </message>
    <message>
        <source>in the project</source>
        <translation>已在项目中</translation>
    </message>
    <message>
        <source>{n} {n:image|images}, {new} not in the project</source>
        <translation>{n} 张图片，其中 {new} 张不在项目中</translation>
    </message>
    <message>
        <source>No image is kept in this folder.</source>
        <translation>此文件夹中没有保留的图片。</translation>
    </message>
    <message>
        <source>Select images that are not in the project</source>
        <translation>请选择不在项目中的图片</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>{n} {n:image is|images are} taken, below inbox/ in the image list</source>
        <translation>已取入 {n} 张图片，在图片列表中位于 inbox/ 之下</translation>
    </message>
</context>
<context>
    <name>JobDialog</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>LabelExportDialog</name>
    <message>
        <source>Export labels</source>
        <translation>导出标注</translation>
    </message>
    <message>
        <source>New or empty folder</source>
        <translation>新文件夹或空文件夹</translation>
    </message>
    <message>
        <source>Copy the &amp;images</source>
        <translation>复制图片(&amp;I)</translation>
    </message>
    <message>
        <source>Only images marked as &amp;done</source>
        <translation>仅已完成的图片(&amp;D)</translation>
    </message>
    <message>
        <source>Include the data s&amp;plit</source>
        <translation>包含数据划分(&amp;P)</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>&amp;Format</source>
        <translation>格式(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Regions</source>
        <translation>区域(&amp;R)</translation>
    </message>
    <message>
        <source>F&amp;older</source>
        <translation>文件夹(&amp;O)</translation>
    </message>
    <message>
        <source>Polygons</source>
        <translation>多边形</translation>
    </message>
    <message>
        <source>Masks (exact)</source>
        <translation>掩膜（精确）</translation>
    </message>
    <message>
        <source>Masks (exact, for labelme only)</source>
        <translation>掩膜（精确，仅适用于 labelme）</translation>
    </message>
    <message>
        <source>Folder for the labels</source>
        <translation>存放标注的文件夹</translation>
    </message>
    <message>
        <source>Unsaved labels could not be saved, so nothing was exported.</source>
        <translation>有标注未能保存，因此未导出。</translation>
    </message>
    <message>
        <source>{done} of {total} {total:image|images}</source>
        <translation>{done} / {total} 张图片</translation>
    </message>
    <message>
        <source>Export canceled after {n} {n:label|labels}. The files written until then remain in {path}.</source>
        <translation>导出 {n} 个标注后已取消。此前写入的文件保留在 {path} 中。</translation>
    </message>
    <message>
        <source>{n} {n:label|labels} exported to {path}.</source>
        <translation>已将 {n} 个标注导出到 {path}。</translation>
    </message>
    <message>
        <source>This format cannot hold everything. Press Enter on a row to open the image.</source>
        <translation>该格式无法保存全部内容。在某一行按回车键可打开对应图片。</translation>
    </message>
    <message>
        <source>PNG masks</source>
        <translation>PNG 掩膜</translation>
    </message>
    <message>
        <source>ImageFolder (one folder per verdict)</source>
        <translation>ImageFolder（每个判定一个文件夹）</translation>
    </message>
    <message>
        <source>Table of verdicts (CSV)</source>
        <translation>判定表（CSV）</translation>
    </message>
</context>
<context>
    <name>LabelFilesController</name>
    <message>
        <source>Import undone: {n} {n:image|images}</source>
        <translation>已撤销导入：{n} 张图片</translation>
    </message>
    <message>
        <source>{n} {n:image was kept, because its label has|images were kept, because their labels have} changed since.</source>
        <translation>{n} 张图片的标注此后有更改，已予保留。</translation>
    </message>
    <message>
        <source>Import repeated: {n} {n:image|images}</source>
        <translation>已重做导入：{n} 张图片</translation>
    </message>
    <message>
        <source>An interrupted import of {n} {n:label|labels} was completed.</source>
        <translation>已完成之前中断的导入（{n} 个标注）。</translation>
    </message>
    <message>
        <source>Undoing the import: {done} of {total}</source>
        <translation>正在撤销导入：{done} / {total}</translation>
    </message>
    <message>
        <source>Importing: {done} of {total}</source>
        <translation>正在导入：{done} / {total}</translation>
    </message>
</context>
<context>
    <name>LabelIssueBar</name>
    <message>
        <source>Replace the label by the prediction</source>
        <translation>用预测结果替换标注</translation>
    </message>
    <message>
        <source>Keep my label</source>
        <translation>保留我的标注</translation>
    </message>
    <message>
        <source>Keep the label and do not flag this region again</source>
        <translation>保留标注，不再提示此区域</translation>
    </message>
    <message>
        <source>Go to the next flagged region of this image</source>
        <translation>转到此图片的下一处疑似标注错误</translation>
    </message>
    <message>
        <source>{n} of {count}</source>
        <translation>{n} / {count}</translation>
    </message>
    <message>
        <source>Add region</source>
        <translation>添加区域</translation>
    </message>
    <message>
        <source>Remove region</source>
        <translation>移除区域</translation>
    </message>
    <message>
        <source>Change to {name}</source>
        <translation>改为 {name}</translation>
    </message>
</context>
<context>
    <name>LabelMenu</name>
    <message>
        <source>&amp;Label</source>
        <translation>标注(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Brushes</source>
        <translation>画笔(&amp;B)</translation>
    </message>
    <message>
        <source>&amp;Outlines</source>
        <translation>轮廓(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Assisted</source>
        <translation>辅助标注(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Regions</source>
        <translation>区域(&amp;R)</translation>
    </message>
    <message>
        <source>Select &amp;class</source>
        <translation>选择类别(&amp;C)</translation>
    </message>
    <message>
        <source>A&amp;dd class</source>
        <translation>添加类别(&amp;D)</translation>
    </message>
    <message>
        <source>Add a class: a type of defects to paint</source>
        <translation>添加类别，即要涂画的缺陷类型</translation>
    </message>
    <message>
        <source>&amp;Smaller brush</source>
        <translation>减小画笔(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Larger brush</source>
        <translation>增大画笔(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Pick class under pointer</source>
        <translation>拾取指针处的类别(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Keep other classes</source>
        <translation>保留其他类别(&amp;K)</translation>
    </message>
    <message>
        <source>Keep other classes: paint over background only</source>
        <translation>保留其他类别：只在背景上涂画</translation>
    </message>
    <message>
        <source>Treat unpainted areas as &amp;unlabeled</source>
        <translation>未涂画区域视为未标注(&amp;N)</translation>
    </message>
    <message>
        <source>Train on the painted areas of this image only</source>
        <translation>此图片仅用已涂画的区域训练</translation>
    </message>
    <message>
        <source>Edit &amp;outline</source>
        <translation>编辑轮廓(&amp;O)</translation>
    </message>
    <message>
        <source>Select a region with the region tool first</source>
        <translation>请先用区域工具选择一个区域</translation>
    </message>
    <message>
        <source>Show the corners of the selected region and move them</source>
        <translation>显示并移动所选区域的顶点</translation>
    </message>
    <message>
        <source>Class {n}</source>
        <translation>类别 {n}</translation>
    </message>
    <message>
        <source>No class has this number</source>
        <translation>没有此编号的类别</translation>
    </message>
    <message>
        <source>This image has no suggestions</source>
        <translation>此图片没有预标注</translation>
    </message>
    <message>
        <source>Su&amp;ggestions</source>
        <translation>预标注(&amp;G)</translation>
    </message>
    <message>
        <source>Review &amp;suggestions</source>
        <translation>处理预标注(&amp;S)</translation>
    </message>
    <message>
        <source>Suggestions: click a suggestion or drag a box to accept; hold Ctrl to reject</source>
        <translation>预标注：点击或拖框即接受；按住 Ctrl 为拒绝</translation>
    </message>
    <message>
        <source>&amp;Accept all suggestions</source>
        <translation>全部接受(&amp;A)</translation>
    </message>
    <message>
        <source>Accept all suggestions in this image as one undo step</source>
        <translation>接受此图片的全部预标注（可一次撤销）</translation>
    </message>
    <message>
        <source>Re&amp;ject all suggestions</source>
        <translation>全部拒绝(&amp;J)</translation>
    </message>
    <message>
        <source>This model will not suggest these regions again. Can be undone.</source>
        <translation>此模型不再给出这些预标注；可撤销。</translation>
    </message>
    <message>
        <source>&amp;Restore rejected suggestions</source>
        <translation>恢复已拒绝的预标注(&amp;R)</translation>
    </message>
    <message>
        <source>No suggestion of this image was rejected</source>
        <translation>此图片没有被拒绝的预标注</translation>
    </message>
    <message>
        <source>Show the rejected suggestions of this image again</source>
        <translation>重新显示此图片中已拒绝的预标注</translation>
    </message>
    <message>
        <source>Show suggesti&amp;ons</source>
        <translation>显示预标注(&amp;O)</translation>
    </message>
    <message>
        <source>Show suggestions together with labels. {labels} and {suggestions} change the balance.</source>
        <translation>同时显示预标注和标注。按 {labels}、{suggestions} 调整侧重。</translation>
    </message>
    <message>
        <source>Emphasize &amp;labels</source>
        <translation>侧重标注(&amp;L)</translation>
    </message>
    <message>
        <source>Switch from suggestions only to both, then to labels only</source>
        <translation>从仅显示预标注切换到两者，再到仅显示标注</translation>
    </message>
    <message>
        <source>Emphasize s&amp;uggestions</source>
        <translation>侧重预标注(&amp;U)</translation>
    </message>
    <message>
        <source>Switch from labels only to both, then to suggestions only</source>
        <translation>从仅显示标注切换到两者，再到仅显示预标注</translation>
    </message>
    <message>
        <source>No suggested spots are shown</source>
        <translation>当前没有显示可疑点</translation>
    </message>
    <message>
        <source>Suggest &amp;where to look</source>
        <translation>提示可疑点(&amp;W)</translation>
    </message>
    <message>
        <source>The image is done, or a trained model can predict it</source>
        <translation>图片已完成，或已有模型可以预测</translation>
    </message>
    <message>
        <source>Circle the spots that differ most from the rest of the image. No model is needed.</source>
        <translation>圈出与图片其余部分差异最大的可疑点。无需模型。</translation>
    </message>
    <message>
        <source>&amp;Next spot</source>
        <translation>下一个可疑点(&amp;N)</translation>
    </message>
    <message>
        <source>Pre&amp;vious spot</source>
        <translation>上一个可疑点(&amp;V)</translation>
    </message>
</context>
<context>
    <name>LabelNextController</name>
    <message>
        <source>Label kept. It will not be flagged again.</source>
        <translation>已保留标注，不再提示。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>LabelPathField</name>
    <message>
        <source>Folder, zip archive or label file of another tool</source>
        <translation>其他工具的文件夹、zip 压缩包或标注文件</translation>
    </message>
    <message>
        <source>Labels to import</source>
        <translation>要导入的标注</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>File or zip…</source>
        <translation>文件或 zip…</translation>
    </message>
    <message>
        <source>{n} {n:file or folder|files and folders} in {folder}</source>
        <translation>{folder} 中的 {n} 个文件和文件夹</translation>
    </message>
    <message>
        <source>Folder with labels</source>
        <translation>含标注的文件夹</translation>
    </message>
</context>
<context>
    <name>LabelQueueHeader</name>
    <message>
        <source>Label next</source>
        <translation>推荐标注</translation>
    </message>
    <message>
        <source>Images that would improve the model most, with the reason for each</source>
        <translation>对提升模型最有帮助的图片及推荐理由</translation>
    </message>
    <message>
        <source>Label errors</source>
        <translation>疑似标注错误</translation>
    </message>
    <message>
        <source>Labels that a confident model contradicts</source>
        <translation>与高置信度预测不一致的标注</translation>
    </message>
    <message>
        <source>Back to all images</source>
        <translation>返回所有图片</translation>
    </message>
    <message>
        <source>Analyze again</source>
        <translation>重新分析</translation>
    </message>
    <message>
        <source>Train a model first</source>
        <translation>请先训练模型</translation>
    </message>
    <message>
        <source>Analyzing images…</source>
        <translation>正在分析图片…</translation>
    </message>
    <message>
        <source>No images have been analyzed yet.</source>
        <translation>尚未分析图片。</translation>
    </message>
    <message>
        <source>Analyzing images: {done} of {total}</source>
        <translation>正在分析图片：{done} / {total}</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Analyze more images</source>
        <translation>分析更多图片</translation>
    </message>
</context>
<context>
    <name>LayersPanel</name>
    <message>
        <source>Labels</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>Opacity of labels</source>
        <translation>标注的不透明度</translation>
    </message>
    <message>
        <source>Opacity of predictions</source>
        <translation>预测的不透明度</translation>
    </message>
    <message>
        <source>Show or hide the labels</source>
        <translation>显示或隐藏标注</translation>
    </message>
    <message>
        <source>Show or hide the predictions</source>
        <translation>显示或隐藏预测</translation>
    </message>
    <message>
        <source>Show differences from the reference image</source>
        <translation>显示与良品参考图的差异</translation>
    </message>
    <message>
        <source>Opacity of the difference</source>
        <translation>差异的不透明度</translation>
    </message>
    <message>
        <source>No reference image</source>
        <translation>没有良品参考图</translation>
    </message>
    <message>
        <source>No reference</source>
        <translation>无参考图</translation>
    </message>
    <message>
        <source>Image of a part without defects, of the same size</source>
        <translation>尺寸相同的无缺陷零件图片</translation>
    </message>
    <message>
        <source>Open an image first</source>
        <translation>请先打开一张图片</translation>
    </message>
    <message>
        <source>Select a reference image first</source>
        <translation>请先选择良品参考图</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Use this image</source>
        <translation>使用当前图片</translation>
    </message>
    <message>
        <source>Use the current image as the defect-free reference image</source>
        <translation>将当前图片设为良品参考图</translation>
    </message>
</context>
<context>
    <name>LeaveGuard</name>
    <message>
        <source>The labels of 1 image could not be saved.</source>
        <translation>1 张图片的标注无法保存。</translation>
    </message>
    <message>
        <source>The labels of {n} images could not be saved.</source>
        <translation>{n} 张图片的标注无法保存。</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>放弃</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Training could not be moved to the background, so the project was not closed.</source>
        <translation>无法将训练转入后台，因此未关闭项目。</translation>
    </message>
    <message>
        <source>Labels that could not be saved were copied to {path}.</source>
        <translation>无法保存的标注已复制到 {path}。</translation>
    </message>
    <message>
        <source>When the project is writable again, copy the folders masks and notes into the project.</source>
        <translation>项目恢复可写后，请将其中的 masks 和 notes 文件夹复制到项目中。</translation>
    </message>
    <message>
        <source>Free disk space or make the folder writable, then try again.</source>
        <translation>请清理磁盘空间或将文件夹设为可写，然后重试。</translation>
    </message>
    <message>
        <source>Save a copy…</source>
        <translation>另存副本…</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Unsaved labels</source>
        <translation>未保存的标注</translation>
    </message>
    <message>
        <source>Save a copy of the unsaved labels</source>
        <translation>保存未保存标注的副本</translation>
    </message>
    <message>
        <source>Saving a copy of the labels…</source>
        <translation>正在保存标注副本…</translation>
    </message>
    <message>
        <source>Training is running.</source>
        <translation>正在训练。</translation>
    </message>
    <message>
        <source>Training is running ({time} left).</source>
        <translation>正在训练（剩余 {time}）。</translation>
    </message>
    <message>
        <source>Keep running: training continues in the background and is shown again when you open the project.</source>
        <translation>继续运行：训练在后台进行，再次打开项目时重新显示。</translation>
    </message>
    <message>
        <source>Stop: the best model so far is kept, and training can be continued later.</source>
        <translation>停止：保留目前最佳模型，之后可继续训练。</translation>
    </message>
    <message>
        <source>Stop training</source>
        <translation>停止训练</translation>
    </message>
    <message>
        <source>Keep running</source>
        <translation>继续运行</translation>
    </message>
    <message>
        <source>Preparing training…</source>
        <translation>正在准备训练…</translation>
    </message>
    <message>
        <source>Stopping training and saving the model…</source>
        <translation>正在停止训练并保存模型…</translation>
    </message>
    <message>
        <source>The window closes when the work is finished.</source>
        <translation>任务完成后窗口将关闭。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Wait</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>Background work</source>
        <translation>后台任务</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>An export is running.</source>
        <translation>正在导出。</translation>
    </message>
    <message>
        <source>A folder of images is being predicted.</source>
        <translation>正在对文件夹中的图片进行预测。</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
</context>
<context>
    <name>LightingTable</name>
    <message>
        <source>Metrics under changed lighting</source>
        <translation>光照变化时的指标</translation>
    </message>
    <message>
        <source>Measured at the end of the training on {n} validation/test {n:image|images} whose brightness, contrast or sharpness was changed</source>
        <translation>训练结束时在 {n} 张改变了亮度、对比度或清晰度的验证/测试图片上测得</translation>
    </message>
</context>
<context>
    <name>LimitEditor</name>
    <message>
        <source>Add sentence</source>
        <translation>添加语句</translation>
    </message>
    <message>
        <source>An image that breaks several sentences gets the worst of their verdicts</source>
        <translation>违反多条语句的图片以其中最严重的判定为准</translation>
    </message>
</context>
<context>
    <name>MappingTable</name>
    <message>
        <source>Name in the labels</source>
        <translation>标注中的名称</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Regions</source>
        <translation>区域</translation>
    </message>
    <message>
        <source>Import as</source>
        <translation>导入为</translation>
    </message>
    <message>
        <source>Classes and verdicts</source>
        <translation>类别和判定</translation>
    </message>
    <message>
        <source>Verdict: {name}</source>
        <translation>判定：{name}</translation>
    </message>
    <message>
        <source>Import {name} as</source>
        <translation>将 {name} 导入为</translation>
    </message>
    <message>
        <source>Do not import</source>
        <translation>不导入</translation>
    </message>
    <message>
        <source>ignored</source>
        <translation>忽略</translation>
    </message>
    <message>
        <source>existing</source>
        <translation>已有</translation>
    </message>
    <message>
        <source>new</source>
        <translation>新增</translation>
    </message>
</context>
<context>
    <name>MaskQuestion</name>
    <message>
        <source>What are these masks? They are not imported before you choose.</source>
        <translation>这些掩膜是什么？在您选择之前不会导入。</translation>
    </message>
    <message>
        <source>Possible answers</source>
        <translation>可能的答案</translation>
    </message>
    <message>
        <source>{answer} ({n} {n:mask|masks})</source>
        <translation>{answer}（{n} 个掩膜）</translation>
    </message>
</context>
<context>
    <name>MergeDialog</name>
    <message>
        <source>Merge project</source>
        <translation>合并项目</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>合并</translation>
    </message>
    <message>
        <source>Project folder to merge</source>
        <translation>要合并的项目文件夹</translation>
    </message>
    <message>
        <source>Keep the newer label</source>
        <translation>保留较新的标注</translation>
    </message>
    <message>
        <source>Keep the label of this project</source>
        <translation>保留此项目的标注</translation>
    </message>
    <message>
        <source>Take the label of the other project</source>
        <translation>采用另一个项目的标注</translation>
    </message>
    <message>
        <source>&amp;Project</source>
        <translation>项目(&amp;P)</translation>
    </message>
    <message>
        <source>If &amp;both differ</source>
        <translation>两者不同时(&amp;B)</translation>
    </message>
    <message>
        <source>Comparing: {done} of {total} {total:image|images}</source>
        <translation>正在比较：{done} / {total} 张图片</translation>
    </message>
    <message>
        <source>Merging: {done} of {total} {total:image|images}</source>
        <translation>正在合并：{done} / {total} 张图片</translation>
    </message>
    <message>
        <source>Adds the labels and new images of another project, for example of a copy that a colleague has labeled. Images are matched by content, classes by name. The other project is not changed.</source>
        <translation>添加另一个项目的标注和新图片，例如同事标注过的副本。图片按内容匹配，类别按名称匹配。另一个项目不会被更改。</translation>
    </message>
    <message>
        <source>Labels to merge: {n}</source>
        <translation>将合并的标注：{n}</translation>
    </message>
    <message>
        <source>Labels merged: {n}</source>
        <translation>已合并的标注：{n}</translation>
    </message>
    <message>
        <source>Canceled. Nothing was merged.</source>
        <translation>已取消，未合并任何内容。</translation>
    </message>
    <message>
        <source>Images: {n}, of which {copied} are new</source>
        <translation>图片：{n} 张，其中新图片 {copied} 张</translation>
    </message>
    <message>
        <source>Labels kept: {kept}; equal labels: {equal}</source>
        <translation>保留的标注：{kept}；相同的标注：{equal}</translation>
    </message>
    <message>
        <source>New classes: {names}</source>
        <translation>新类别：{names}</translation>
    </message>
    <message>
        <source>Labels that differ: {n} ({names})</source>
        <translation>不同的标注：{n}（{names}）</translation>
    </message>
    <message>
        <source>Skipped: {n} ({why})</source>
        <translation>已跳过：{n}（{why}）</translation>
    </message>
</context>
<context>
    <name>MetricTable</name>
    <message>
        <source>Metrics of both runs</source>
        <translation>两条训练记录的指标</translation>
    </message>
    <message>
        <source>Metric</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Difference (95% CI)</source>
        <translation>差值（95% 置信区间）</translation>
    </message>
    <message>
        <source>Second run is</source>
        <translation>第二条训练记录的结果</translation>
    </message>
</context>
<context>
    <name>MissingFolder</name>
    <message>
        <source>Find project folder</source>
        <translation>查找项目文件夹</translation>
    </message>
    <message>
        <source>The project folder is available again. All changes are saved.</source>
        <translation>项目文件夹已恢复可用。所有更改均已保存。</translation>
    </message>
    <message>
        <source>The project folder {path} is not available.</source>
        <translation>项目文件夹 {path} 当前不可用。</translation>
    </message>
    <message>
        <source>Find folder…</source>
        <translation>查找文件夹…</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>You can continue labeling. Changes are saved when the folder is available again.</source>
        <translation>可以继续标注。文件夹恢复可用后会保存更改。</translation>
    </message>
    <message>
        <source>Unsaved changes: {count}. Changes are kept in memory and in a recovery journal.</source>
        <translation>未保存的更改：{count} 处。更改保留在内存和恢复日志中。</translation>
    </message>
    <message>
        <source>Unsaved changes: {count}. Changes are kept in memory.</source>
        <translation>未保存的更改：{count} 处。更改保留在内存中。</translation>
    </message>
</context>
<context>
    <name>MissingImages</name>
    <message>
        <source>Labels ({patterns})</source>
        <translation>标注 ({patterns})</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>所有文件 (*)</translation>
    </message>
    <message>
        <source>Label file or zip archive</source>
        <translation>标注文件或 zip 压缩包</translation>
    </message>
    <message>
        <source>Label files or zip archive</source>
        <translation>标注文件或 zip 压缩包</translation>
    </message>
    <message>
        <source>Locate images…</source>
        <translation>定位图片…</translation>
    </message>
    <message>
        <source>Choose the folder of the images. They are used where they are.</source>
        <translation>选择图片所在的文件夹。图片保留在原处使用，不会复制。</translation>
    </message>
    <message>
        <source>Labels without an image: {n}. Their images are neither beside the labels nor in the project.</source>
        <translation>缺少图片的标注：{n} 个。其图片既不在标注文件旁边，也不在项目中。</translation>
    </message>
    <message>
        <source>None of them is in {folder}. Choose another folder.</source>
        <translation>{folder} 中没有其中任何一张图片。请选择其他文件夹。</translation>
    </message>
    <message>
        <source>Folder with the images</source>
        <translation>图片所在文件夹</translation>
    </message>
</context>
<context>
    <name>ModelChip</name>
    <message>
        <source>You chose this model. It stays in use until you choose another one.</source>
        <translation>此模型由您选择，在您选择其他模型之前一直使用。</translation>
    </message>
    <message>
        <source>Automatic: the best of the runs that can be compared. A new run may replace it.</source>
        <translation>自动：可比较的训练记录中最佳的一个，可能被新的训练记录取代。</translation>
    </message>
    <message>
        <source>Predictions, suggestions, Evaluate, Label next and Export use this model.</source>
        <translation>预测、预标注、评估、推荐标注和导出都使用此模型。</translation>
    </message>
    <message>
        <source>Automatic (best comparable run)</source>
        <translation>自动（可比较的最佳训练记录）</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
</context>
<context>
    <name>ModelOffer</name>
    <message>
        <source>It is another kind of model, so both cannot be compared.</source>
        <translation>两者的模型种类不同，无法比较。</translation>
    </message>
    <message>
        <source>Comparing both on the same images…</source>
        <translation>正在相同的图片上比较两者…</translation>
    </message>
    <message>
        <source>{new} is ready. {used} stays in use, as you chose it.</source>
        <translation>{new} 已训练完成。{used} 由您选择，继续使用。</translation>
    </message>
    <message>
        <source>{new} is ready and in use.</source>
        <translation>{new} 已就绪并正在使用。</translation>
    </message>
    <message>
        <source>Compared with {run}, the last export:</source>
        <translation>与最近一次导出的 {run} 相比：</translation>
    </message>
    <message>
        <source>Compare…</source>
        <translation>比较…</translation>
    </message>
    <message>
        <source>Use {new}</source>
        <translation>使用 {new}</translation>
    </message>
</context>
<context>
    <name>MovingAreaDialog</name>
    <message>
        <source>Inspection area moves with the part</source>
        <translation>检测区域随零件移动</translation>
    </message>
    <message>
        <source>The area moves with the part</source>
        <translation>区域随零件移动</translation>
    </message>
    <message>
        <source>Of the longer side of the image</source>
        <translation>图片长边的百分比</translation>
    </message>
    <message>
        <source>0: the part does not rotate</source>
        <translation>0：零件不旋转</translation>
    </message>
    <message>
        <source>Greatest &amp;movement</source>
        <translation>最大移动(&amp;M)</translation>
    </message>
    <message>
        <source>Greatest &amp;rotation</source>
        <translation>最大旋转(&amp;R)</translation>
    </message>
    <message>
        <source>Where the part is not found within these limits, the verdict is unsure, with the reason.</source>
        <translation>在这些限值之内找不到零件时，判定为“不确定”并附原因。</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>{n} px</source>
        <translation>{n} px</translation>
    </message>
    <message>
        <source>The area has the same place in all images.</source>
        <translation>区域在所有图片中位置相同。</translation>
    </message>
    <message>
        <source>Looking for the part in this image…</source>
        <translation>正在当前图片中寻找零件…</translation>
    </message>
    <message>
        <source>In this image the part is not found: {why}.</source>
        <translation>在当前图片中找不到零件：{why}。</translation>
    </message>
    <message>
        <source>This image becomes the reference image.</source>
        <translation>当前图片将作为参考图片。</translation>
    </message>
    <message>
        <source>In this image the part has moved by {n} px and is rotated by {angle}°.</source>
        <translation>在当前图片中，零件移动了 {n} px，旋转了 {angle}°。</translation>
    </message>
</context>
<context>
    <name>NewProjectDialog</name>
    <message>
        <source>New project</source>
        <translation>新建项目</translation>
    </message>
    <message>
        <source>my-project</source>
        <translation>我的项目</translation>
    </message>
    <message>
        <source>Optional. Images can be added later.</source>
        <translation>可选。以后也可添加图片。</translation>
    </message>
    <message>
        <source>scratch, pit, stain</source>
        <translation>划痕，凹坑，污渍</translation>
    </message>
    <message>
        <source>OK, NG</source>
        <translation>OK，NG</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>名称(&amp;N)</translation>
    </message>
    <message>
        <source>Folder for the project</source>
        <translation>项目所在文件夹</translation>
    </message>
    <message>
        <source>Folder in which the project folder is created</source>
        <translation>项目文件夹的创建位置</translation>
    </message>
    <message>
        <source>Folder with the images</source>
        <translation>图片所在文件夹</translation>
    </message>
    <message>
        <source>Image folder. The images are not copied.</source>
        <translation>图片文件夹。图片不会被复制。</translation>
    </message>
    <message>
        <source>&amp;Images</source>
        <translation>图片(&amp;I)</translation>
    </message>
    <message>
        <source>Labels to import. The images beside them are imported too.</source>
        <translation>要导入的标注，旁边的图片也会一并导入。</translation>
    </message>
    <message>
        <source>Folder with labels</source>
        <translation>标注所在文件夹</translation>
    </message>
    <message>
        <source>La&amp;bels</source>
        <translation>标注(&amp;B)</translation>
    </message>
    <message>
        <source>From the labels</source>
        <translation>取自标注</translation>
    </message>
    <message>
        <source>Labels found: {formats}</source>
        <translation>发现标注：{formats}</translation>
    </message>
    <message>
        <source>Project folder: {path}</source>
        <translation>项目文件夹：{path}</translation>
    </message>
    <message>
        <source>The project name must not be empty or contain any of &lt; &gt; : &quot; / \ | ? *</source>
        <translation>项目名称不能为空，也不能包含 &lt; &gt; : &quot; / \ | ? *</translation>
    </message>
    <message>
        <source>Choose the folder in which the project folder is created.</source>
        <translation>请选择项目文件夹的创建位置。</translation>
    </message>
    <message>
        <source>A project with this name exists. Choose another name, or open that project.</source>
        <translation>已存在同名项目。请更换名称，或打开该项目。</translation>
    </message>
    <message>
        <source>The image folder does not exist.</source>
        <translation>图片文件夹不存在。</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>File or zip…</source>
        <translation>文件或 zip…</translation>
    </message>
    <message>
        <source>&amp;Folder</source>
        <translation>位置(&amp;F)</translation>
    </message>
    <message>
        <source>Optional. Labels made with another tool.</source>
        <translation>可选。用其他工具制作的标注。</translation>
    </message>
    <message>
        <source>&amp;Classes</source>
        <translation>类别(&amp;C)</translation>
    </message>
    <message>
        <source>Types of defects to paint, for UNet. Add more at any time.</source>
        <translation>要涂画的缺陷类型，用于 UNet。可随时添加。</translation>
    </message>
    <message>
        <source>&amp;Verdicts</source>
        <translation>判定(&amp;V)</translation>
    </message>
    <message>
        <source>Optional. Results for a whole image, for ResNet.</source>
        <translation>可选。整张图片的判定结果，用于 ResNet。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Create project</source>
        <translation>创建项目</translation>
    </message>
    <message>
        <source>The labels do not exist.</source>
        <translation>标注不存在。</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
</context>
<context>
    <name>NoMatchPage</name>
    <message>
        <source>No matching images</source>
        <translation>没有符合条件的图片</translation>
    </message>
    <message>
        <source>Show all images</source>
        <translation>显示所有图片</translation>
    </message>
</context>
<context>
    <name>NoticeList</name>
    <message>
        <source>How parts are told apart…</source>
        <translation>如何区分零件…</translation>
    </message>
</context>
<context>
    <name>Notifications</name>
    <message>
        <source>No defect found in this box.</source>
        <translation>框内没有分割出缺陷。</translation>
    </message>
    <message>
        <source>No object found at this position.</source>
        <translation>此处未找到物体。</translation>
    </message>
    <message>
        <source>No continuous line found between the two points.</source>
        <translation>两点之间没有找到连续的线。</translation>
    </message>
    <message>
        <source>Nothing was painted: “Keep other classes” protects this area.</source>
        <translation>未涂画：“保留其他类别”保护了此区域。</translation>
    </message>
    <message>
        <source>This class is locked.</source>
        <translation>该类别已锁定。</translation>
    </message>
    <message>
        <source>Unexpected error: {what}</source>
        <translation>意外错误：{what}</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详细信息</translation>
    </message>
    <message>
        <source>Copy report</source>
        <translation>复制报告</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Undone: {step}</source>
        <translation>已撤销：{step}</translation>
    </message>
    <message>
        <source>Redone: {step}</source>
        <translation>已重做：{step}</translation>
    </message>
    <message>
        <source>Undone on {name}: {step}</source>
        <translation>已在 {name} 上撤销：{step}</translation>
    </message>
    <message>
        <source>Redone on {name}: {step}</source>
        <translation>已在 {name} 上重做：{step}</translation>
    </message>
    <message>
        <source>This project has no classes.</source>
        <translation>此项目没有类别。</translation>
    </message>
    <message>
        <source>No defect is painted on {name}, so it is not marked as done.</source>
        <translation>{name} 上没有画任何缺陷，因此未标为已完成。</translation>
    </message>
    <message>
        <source>If it shows none, mark it as good.</source>
        <translation>如果确实没有缺陷，请标为良品。</translation>
    </message>
    <message>
        <source>Mark as good</source>
        <translation>标为良品</translation>
    </message>
    <message>
        <source>Click + next to Classes to add a class.</source>
        <translation>请点击“类别”旁的 + 添加类别。</translation>
    </message>
    <message>
        <source>This project is read-only. Labels cannot be changed.</source>
        <translation>此项目为只读，不能更改标注。</translation>
    </message>
    <message>
        <source>Close the other window that uses the project, then open the project again.</source>
        <translation>请关闭正在使用此项目的其他窗口，然后重新打开项目。</translation>
    </message>
    <message>
        <source>“{command}” is not available.</source>
        <translation>“{command}”当前不可用。</translation>
    </message>
    <message>
        <source>{reason}.</source>
        <translation>{reason}。</translation>
    </message>
    <message>
        <source>{key} activated the button “{button}”.</source>
        <translation>{key}键已触发按钮“{button}”。</translation>
    </message>
    <message>
        <source>Press {key} again to use it on the image.</source>
        <translation>如需对图片使用，请再按一次{key}键。</translation>
    </message>
    <message>
        <source>Stopped at {name}: it is not shown yet.</source>
        <translation>在 {name} 处停止：该图片尚未显示。</translation>
    </message>
    <message>
        <source>Keys typed too early have no effect.</source>
        <translation>过早按下的键不起作用。</translation>
    </message>
    <message>
        <source>{n} {n:image has|images have} painted defects and did not change.</source>
        <translation>{n} 张图片已涂有缺陷，未作更改。</translation>
    </message>
    <message>
        <source>Nothing was painted because the area is too large.</source>
        <translation>区域过大，未涂画。</translation>
    </message>
    <message>
        <source>Lower the tolerance or select a smaller area.</source>
        <translation>请降低容差或选择较小的区域。</translation>
    </message>
    <message>
        <source>Include some surface around the defect in the box, or use the magic wand.</source>
        <translation>请在框内保留缺陷周围的部分表面，或使用魔棒。</translation>
    </message>
    <message>
        <source>Add a click or drag a box.</source>
        <translation>请再次点击或拖出方框。</translation>
    </message>
    <message>
        <source>Click the defect before you click what to remove.</source>
        <translation>请先点击缺陷，再点击要移除的部分。</translation>
    </message>
    <message>
        <source>No area to fill at this position.</source>
        <translation>此位置没有可填充的区域。</translation>
    </message>
    <message>
        <source>The two points are too far apart.</source>
        <translation>两点相距太远。</translation>
    </message>
    <message>
        <source>Add a point between them.</source>
        <translation>请在两点之间添加一点。</translation>
    </message>
    <message>
        <source>No region at this position.</source>
        <translation>此位置没有区域。</translation>
    </message>
    <message>
        <source>Click a painted region.</source>
        <translation>请点击已涂画的区域。</translation>
    </message>
    <message>
        <source>Turn off “Keep other classes” to paint here</source>
        <translation>关闭“保留其他类别”后可在此涂画</translation>
    </message>
    <message>
        <source>No suggestion at this position.</source>
        <translation>此位置没有预标注。</translation>
    </message>
    <message>
        <source>Press {key} to predict this image.</source>
        <translation>按 {key} 预测此图片。</translation>
    </message>
    <message>
        <source>Unlock the class in its context menu to change it.</source>
        <translation>请先在类别的右键菜单中解锁。</translation>
    </message>
    <message>
        <source>Curves saved in {path}.</source>
        <translation>曲线已保存到 {path}。</translation>
    </message>
    <message>
        <source>Report saved: {path}</source>
        <translation>报告已保存：{path}</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>The project is read-only in this window.</source>
        <translation>项目在此窗口中为只读。</translation>
    </message>
    <message>
        <source>Save your work. Restart Defect Workbench if problems continue.</source>
        <translation>请保存工作。如果问题持续，请重新启动 Defect Workbench。</translation>
    </message>
    <message>
        <source>{n} {n:image is|images are} hidden by the search, the filter or Label next.</source>
        <translation>{n} 张图片被搜索、筛选或推荐标注隐藏。</translation>
    </message>
    <message>
        <source>Show all images</source>
        <translation>显示所有图片</translation>
    </message>
    <message>
        <source>Changed: {step}</source>
        <translation>已更改：{step}</translation>
    </message>
    <message>
        <source>The area is not used yet. With it, these labels count neither in training nor in metrics.</source>
        <translation>该区域尚未启用。启用后，这些标注将不计入训练和指标。</translation>
    </message>
    <message>
        <source>Use it</source>
        <translation>仍然启用</translation>
    </message>
    <message>
        <source>Model exported to {path}.</source>
        <translation>模型已导出到 {path}。</translation>
    </message>
    <message>
        <source>Export anyway</source>
        <translation>仍然导出</translation>
    </message>
    <message>
        <source>Export canceled. No files were left behind.</source>
        <translation>已取消导出，没有留下文件。</translation>
    </message>
    <message>
        <source>{n} {n:image|images}</source>
        <translation>{n} 张图片</translation>
    </message>
    <message>
        <source>{name} marked as good</source>
        <translation>{name} 已标为良品</translation>
    </message>
    <message>
        <source>{name} marked as done</source>
        <translation>{name} 已标为已完成</translation>
    </message>
    <message>
        <source>{name} marked as not done</source>
        <translation>{name} 已标为未完成</translation>
    </message>
    <message>
        <source>data split of {name}</source>
        <translation>{name} 的数据划分</translation>
    </message>
    <message>
        <source>group of {name}</source>
        <translation>{name} 的分组</translation>
    </message>
    <message>
        <source>verdict of {name} removed</source>
        <translation>已移除 {name} 的判定</translation>
    </message>
    <message>
        <source>verdict {verdict} for {name}</source>
        <translation>{name} 的判定为 {verdict}</translation>
    </message>
    <message>
        <source>{n} {n:image|images} copied into the project</source>
        <translation>已将 {n} 张图片复制到项目中</translation>
    </message>
    <message>
        <source>No image was copied into the project</source>
        <translation>没有图片被复制到项目中</translation>
    </message>
    <message>
        <source>already in the project: {n}</source>
        <translation>项目中已有 {n} 张</translation>
    </message>
    <message>
        <source>{name} is not an image</source>
        <translation>{name} 不是图片</translation>
    </message>
    <message>
        <source>{name} contains no image</source>
        <translation>{name} 中没有图片</translation>
    </message>
    <message>
        <source>{name} is a project (drop it alone to open it)</source>
        <translation>{name} 是项目（请单独拖入以打开）</translation>
    </message>
    <message>
        <source>{n} more skipped</source>
        <translation>另有 {n} 项已跳过</translation>
    </message>
    <message>
        <source>{name} is not on this computer</source>
        <translation>{name} 不在本机上</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
</context>
<context>
    <name>OperatingPointPanel</name>
    <message>
        <source>Detection threshold</source>
        <translation>检出阈值</translation>
    </message>
    <message>
        <source>Min. probability</source>
        <translation>最低概率</translation>
    </message>
    <message>
        <source>Minimum pixel probability. Higher values give fewer false alarms but more missed defects.</source>
        <translation>像素的最低概率。值越高，误报越少，但漏检越多。</translation>
    </message>
    <message>
        <source>Min. area</source>
        <translation>最小面积</translation>
    </message>
    <message>
        <source>Minimum area of a region. Smaller regions are dropped.</source>
        <translation>区域的最小面积；更小的区域会被滤除。</translation>
    </message>
    <message>
        <source>Error cost</source>
        <translation>错误代价</translation>
    </message>
    <message>
        <source>Cost of a missed defect in false alarms</source>
        <translation>一处漏检的代价（按误报数计）</translation>
    </message>
    <message>
        <source>Use operating point</source>
        <translation>使用此工作点</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Reset to the operating point chosen by the training</source>
        <translation>恢复训练选定的工作点</translation>
    </message>
    <message>
        <source>Missed: {missed}, false alarms: {false}, cost: {total}</source>
        <translation>漏检 {missed} 处，误报 {false} 处，代价 {total}</translation>
    </message>
    <message>
        <source>The operating point chosen by the training is in use</source>
        <translation>当前已使用训练选定的工作点</translation>
    </message>
    <message>
        <source>The run is still training. The operating point can be changed when the training has ended.</source>
        <translation>此训练记录仍在训练，训练结束后可更改工作点。</translation>
    </message>
    <message>
        <source>In use: operating point set in the evaluation</source>
        <translation>当前使用：评估中设定的工作点</translation>
    </message>
    <message>
        <source>In use: operating point with which the model was added</source>
        <translation>当前使用：添加模型时的工作点</translation>
    </message>
    <message>
        <source>In use: operating point chosen by the training</source>
        <translation>当前使用：训练选定的工作点</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>The run is still training</source>
        <translation>此训练记录仍在训练</translation>
    </message>
    <message>
        <source>The threshold of the verdict rule is being chosen</source>
        <translation>正在选择判定规则的阈值</translation>
    </message>
    <message>
        <source>This operating point is in use already</source>
        <translation>已在使用此工作点</translation>
    </message>
    <message>
        <source>One missed defect costs as much as {n} false {n:alarm|alarms}</source>
        <translation>一处漏检的代价等于 {n} 处误报</translation>
    </message>
    <message>
        <source>One false alarm costs as much as {n} missed {n:defect|defects}</source>
        <translation>一处误报的代价等于 {n} 处漏检</translation>
    </message>
    <message>
        <source>Moves both sliders to the operating point with the lowest cost on these images</source>
        <translation>将两个滑块移到在这些图片上代价最低的工作点</translation>
    </message>
    <message>
        <source>Find lowest cost</source>
        <translation>求最低代价</translation>
    </message>
    <message>
        <source>Predictions and exports of this run use this operating point from now on</source>
        <translation>此训练记录的预测和导出今后都使用该工作点</translation>
    </message>
</context>
<context>
    <name>OptionBar</name>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source> px</source>
        <translation> 像素</translation>
    </message>
    <message>
        <source>Train on painted areas only</source>
        <translation>仅用已涂画区域训练</translation>
    </message>
    <message>
        <source>Fill closed strokes</source>
        <translation>闭合笔画自动填充</translation>
    </message>
    <message>
        <source>Pen pressure</source>
        <translation>笔压</translation>
    </message>
    <message>
        <source>Tolerance</source>
        <translation>容差</translation>
    </message>
    <message>
        <source>Value range</source>
        <translation>数值范围</translation>
    </message>
    <message>
        <source>Smooth</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Fill holes</source>
        <translation>填充孔洞</translation>
    </message>
    <message>
        <source>Dark or bright (automatic)</source>
        <translation>暗线或亮线（自动）</translation>
    </message>
    <message>
        <source>Dark line</source>
        <translation>暗线</translation>
    </message>
    <message>
        <source>Bright line</source>
        <translation>亮线</translation>
    </message>
    <message>
        <source>Fill the area of a stroke that ends at its start</source>
        <translation>笔画回到起点时填充其内部</translation>
    </message>
    <message>
        <source>Adjust the stroke width to the pen pressure</source>
        <translation>按笔压调整笔画宽度</translation>
    </message>
    <message>
        <source>Determine the value from the image at each click</source>
        <translation>每次点击时根据图片自动确定数值</translation>
    </message>
    <message>
        <source>Include enclosed areas</source>
        <translation>包含内部区域</translation>
    </message>
    <message>
        <source>Max. width</source>
        <translation>最大宽度</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步长</translation>
    </message>
    <message>
        <source>Visible area only</source>
        <translation>仅可见区域</translation>
    </message>
    <message>
        <source>Small defects of a large image: zoom in before the click</source>
        <translation>大图中的小缺陷：点击之前先放大</translation>
    </message>
    <message>
        <source>Only this folder</source>
        <translation>仅此文件夹</translation>
    </message>
    <message>
        <source>The area is that of the images in the folder of this image; otherwise of all images without one</source>
        <translation>区域只用于此图片所在文件夹的图片；否则用于所有没有单独区域的图片</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Line type</source>
        <translation>线的类型</translation>
    </message>
    <message>
        <source>Zone</source>
        <translation>分区</translation>
    </message>
    <message>
        <source>Name of a zone that the polygon only marks, for the sentences of a verdict rule; empty: the area</source>
        <translation>多边形只标记的分区的名称，供判定规则的语句使用；留空则为检测区域</translation>
    </message>
    <message>
        <source>Inspected area</source>
        <translation>检测区域</translation>
    </message>
    <message>
        <source>{n} px</source>
        <translation>{n} px</translation>
    </message>
    <message>
        <source>{area}   {long} × {wide}</source>
        <translation>{area}   {long} × {wide}</translation>
    </message>
    <message>
        <source>Traced, {width} wide</source>
        <translation>已追踪，宽 {width}</translation>
    </message>
</context>
<context>
    <name>PackDialog</name>
    <message>
        <source>Pack project</source>
        <translation>打包项目</translation>
    </message>
    <message>
        <source>Pack</source>
        <translation>打包</translation>
    </message>
    <message>
        <source>Zip file to write</source>
        <translation>要写入的 zip 文件</translation>
    </message>
    <message>
        <source>Include &amp;trained models</source>
        <translation>包含已训练的模型(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>Writes the project with the images of all its folders to one file. It can be unpacked and opened on another computer. Exports and the history for undo are left out.</source>
        <translation>将项目及其所有文件夹中的图片写入一个文件，可在另一台计算机上解包并打开。不包含导出和撤销历史。</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Packing: {done} of {total} {total:file|files}</source>
        <translation>正在打包：{done} / {total} 个文件</translation>
    </message>
    <message>
        <source>Canceled. No file was written.</source>
        <translation>已取消。未写入文件。</translation>
    </message>
    <message>
        <source>{n} {n:image|images} packed into {path} ({size}).</source>
        <translation>已将 {n} 张图片打包到 {path}（{size}）。</translation>
    </message>
    <message>
        <source>Left out, because their folders are not available: {names}</source>
        <translation>因文件夹不可用而未包含：{names}</translation>
    </message>
    <message>
        <source>{n} {n:file|files} left out, removed meanwhile or with a name that is not UTF-8: {names}</source>
        <translation>有 {n} 个文件未包含，因为它们已被移走或名称不是 UTF-8：{names}</translation>
    </message>
</context>
<context>
    <name>PageIndicator</name>
    <message>
        <source>Page {number} of {count}</source>
        <translation>第 {number} 页，共 {count} 页</translation>
    </message>
    <message>
        <source>{page} (different size, labels belong to page 1)</source>
        <translation>{page}（尺寸不同，标注属于第 1 页）</translation>
    </message>
</context>
<context>
    <name>PairView</name>
    <message>
        <source>Images on which the runs differ</source>
        <translation>结果不同的图片</translation>
    </message>
    <message>
        <source>Open this image</source>
        <translation>打开此图片</translation>
    </message>
</context>
<context>
    <name>PartPlanDialog</name>
    <message>
        <source>How many parts do I need?</source>
        <translation>需要多少零件？</translation>
    </message>
    <message>
        <source>List parts to label</source>
        <translation>列出要标注的零件</translation>
    </message>
    <message>
        <source>Missed parts</source>
        <translation>漏检的零件</translation>
    </message>
    <message>
        <source>Parts with false alarms</source>
        <translation>有误报的零件</translation>
    </message>
    <message>
        <source>&amp;Missed parts, at most</source>
        <translation>漏检零件上限(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;False alarms, at most</source>
        <translation>误报零件上限(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Confidence</source>
        <translation>置信度(&amp;C)</translation>
    </message>
    <message>
        <source>With 95%, at most 5 of 100 such statements are wrong.</source>
        <translation>95% 表示：100 个这样的结论中至多 5 个是错的。</translation>
    </message>
    <message>
        <source>Verdict of &amp;good parts</source>
        <translation>良品的判定(&amp;G)</translation>
    </message>
    <message>
        <source>Parts to label next</source>
        <translation>接下来要标注的零件</translation>
    </message>
    <message>
        <source>{done} of {total} images analyzed</source>
        <translation>已分析 {done} / {total} 张图片</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
</context>
<context>
    <name>PartRuleDialog</name>
    <message>
        <source>How parts are told apart</source>
        <translation>如何区分零件</translation>
    </message>
    <message>
        <source>Several images can show the same part: from other sides, or taken again. Images of one part are never divided between training and validation, because a model recognizes a part that it has seen, and its metrics would be too good.</source>
        <translation>多张图片可能拍的是同一个零件：从不同侧面，或重复拍摄。同一零件的图片不会分到训练集和验证集两边，因为模型会认出见过的零件，指标就会偏高。</translation>
    </message>
    <message>
        <source>&amp;Automatic: neighboring numbers, and images that look the same</source>
        <translation>自动(&amp;A)：编号相邻或看起来相同的图片</translation>
    </message>
    <message>
        <source>By &amp;folder: all images of a folder show one part</source>
        <translation>按文件夹(&amp;F)：同一文件夹的图片属于一个零件</translation>
    </message>
    <message>
        <source>By &amp;name: images whose names begin in the same way show one part</source>
        <translation>按名称(&amp;N)：名称开头相同的图片属于一个零件</translation>
    </message>
    <message>
        <source>&amp;Each image is a part of its own</source>
        <translation>每张图片单独算作一个零件(&amp;E)</translation>
    </message>
    <message>
        <source>Part in the name</source>
        <translation>名称中表示零件的部分</translation>
    </message>
    <message>
        <source>up to the last _ or -</source>
        <translation>到最后一个 _ 或 - 为止</translation>
    </message>
    <message>
        <source>up to the first _ or -</source>
        <translation>到第一个 _ 或 - 为止</translation>
    </message>
    <message>
        <source>up to the last number</source>
        <translation>到最后一个数字为止</translation>
    </message>
    <message>
        <source>regular expression</source>
        <translation>正则表达式</translation>
    </message>
    <message>
        <source>Regular expression</source>
        <translation>正则表达式</translation>
    </message>
    <message>
        <source>Parts</source>
        <translation>零件</translation>
    </message>
    <message>
        <source>Use for the next trainings</source>
        <translation>用于之后的训练</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Dividing the images into parts…</source>
        <translation>正在按零件划分图片…</translation>
    </message>
    <message>
        <source>This rule is in use</source>
        <translation>正在使用此规则</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>{n} labeled {n:image|images} of {parts} {parts:part|parts}</source>
        <translation>{n} 张已标注图片，{parts} 个零件</translation>
    </message>
    <message>
        <source>{n} {n:image|images} of {parts} {parts:part|parts}</source>
        <translation>{n} 张图片，{parts} 个零件</translation>
    </message>
    <message>
        <source>Nothing is labeled yet.</source>
        <translation>尚无标注。</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>零件</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Examples</source>
        <translation>示例</translation>
    </message>
    <message>
        <source>Data split</source>
        <translation>数据划分</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>test</source>
        <translation>测试</translation>
    </message>
    <message>
        <source>Next training: {train} for training, {val} for validation, {test} for the test</source>
        <translation>下次训练：训练 {train} 张，验证 {val} 张，测试 {test} 张</translation>
    </message>
</context>
<context>
    <name>PathField</name>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>Zip files (*.zip)</source>
        <translation>Zip 文件 (*.zip)</translation>
    </message>
</context>
<context>
    <name>PrecisionRecallPlot</name>
    <message>
        <source>{metric}, %</source>
        <translation>{metric}（%）</translation>
    </message>
    <message>
        <source>Threshold {threshold}: recall {recall}, precision {precision}, {false} false {false:alarm|alarms} per image</source>
        <translation>阈值 {threshold}：召回率 {recall}，精确率 {precision}，每张图片 {false} 处误报</translation>
    </message>
    <message>
        <source>Precision-recall curve</source>
        <translation>P-R 曲线</translation>
    </message>
</context>
<context>
    <name>PredictFolderDialog</name>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Predict folder</source>
        <translation>预测文件夹</translation>
    </message>
    <message>
        <source>Results</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Open results folder</source>
        <translation>打开结果文件夹</translation>
    </message>
    <message>
        <source>Folder of a run or an export</source>
        <translation>训练记录或导出的文件夹</translation>
    </message>
    <message>
        <source>Folder of the images to predict</source>
        <translation>要预测的图片所在文件夹</translation>
    </message>
    <message>
        <source>Subfolders are included</source>
        <translation>包含子文件夹</translation>
    </message>
    <message>
        <source>Folder for the results</source>
        <translation>结果文件夹</translation>
    </message>
    <message>
        <source>For masks, overlays, regions.csv and results.json</source>
        <translation>存放掩膜、叠加图、regions.csv 和 results.json</translation>
    </message>
    <message>
        <source>Save &amp;overlays</source>
        <translation>保存叠加图(&amp;O)</translation>
    </message>
    <message>
        <source>Save each image with its predictions drawn on it</source>
        <translation>为每张图片保存一份绘有预测结果的图</translation>
    </message>
    <message>
        <source>&amp;Skip images that already have results</source>
        <translation>跳过已有结果的图片(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Watch folder</source>
        <translation>监视文件夹(&amp;W)</translation>
    </message>
    <message>
        <source>Predict new images in the folder until stopped</source>
        <translation>持续预测文件夹中的新图片，直到停止</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>模型(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Images</source>
        <translation>图片(&amp;I)</translation>
    </message>
    <message>
        <source>&amp;Results</source>
        <translation>结果(&amp;R)</translation>
    </message>
    <message>
        <source>Choose images, click Predict and select a result to preview it.</source>
        <translation>选择图片并点击“预测”，再选择结果预览。</translation>
    </message>
    <message>
        <source>Loading the model and listing images…</source>
        <translation>正在加载模型并列出图片…</translation>
    </message>
    <message>
        <source>Choose a model: the folder of a run or an export.</source>
        <translation>请选择模型：训练记录或导出的文件夹。</translation>
    </message>
    <message>
        <source>There is no model yet. Train one, or choose the folder of a run or an export.</source>
        <translation>还没有模型。请先训练模型，或选择训练记录或导出的文件夹。</translation>
    </message>
    <message>
        <source>Choose the folder of the images to predict.</source>
        <translation>请选择要预测的图片文件夹。</translation>
    </message>
    <message>
        <source>Choose a folder for the results.</source>
        <translation>请选择结果文件夹。</translation>
    </message>
    <message>
        <source>Waiting for images in {folder}…</source>
        <translation>正在等待 {folder} 中的图片…</translation>
    </message>
    <message>
        <source>Watching the folder: {done} {done:image|images} done, {skipped} skipped</source>
        <translation>正在监视文件夹：完成 {done} 张，跳过 {skipped} 张</translation>
    </message>
    <message>
        <source>{done} of {total} {total:image|images}, about {left} left</source>
        <translation>{done} / {total} 张，约剩 {left}</translation>
    </message>
    <message>
        <source>{done} {done:image|images} done, {skipped} skipped. Results are saved in {path}.</source>
        <translation>完成 {done} 张，跳过 {skipped} 张。结果保存在 {path}。</translation>
    </message>
    <message>
        <source>Stopped. {done} {done:image|images} done, {skipped} skipped. Results are kept; select “Skip images that already have results” to continue.</source>
        <translation>已停止：完成 {done} 张，跳过 {skipped} 张。结果已保留；勾选“跳过已有结果的图片”可继续。</translation>
    </message>
    <message>
        <source>{results}.</source>
        <translation>{results}。</translation>
    </message>
    <message>
        <source>{n} {n:image is|images are} unlike the training images.</source>
        <translation>{n} 张图片与训练图片不符。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Predict</source>
        <translation>预测</translation>
    </message>
</context>
<context>
    <name>PredictionDisplay</name>
    <message>
        <source>Outline</source>
        <translation>轮廓</translation>
    </message>
    <message>
        <source>Predictions as outlines</source>
        <translation>用轮廓显示预测</translation>
    </message>
    <message>
        <source>Filled</source>
        <translation>填充</translation>
    </message>
    <message>
        <source>Predictions as filled areas</source>
        <translation>用填充区域显示预测</translation>
    </message>
    <message>
        <source>Probability</source>
        <translation>概率</translation>
    </message>
    <message>
        <source>Uncertainty</source>
        <translation>不确定度</translation>
    </message>
    <message>
        <source>Display of predictions</source>
        <translation>预测的显示方式</translation>
    </message>
    <message>
        <source>Style</source>
        <translation>显示方式</translation>
    </message>
    <message>
        <source>Exact pixels</source>
        <translation>精确像素</translation>
    </message>
    <message>
        <source>Outlines follow the pixels of the mask. Otherwise they are smoothed, on the screen only.</source>
        <translation>轮廓沿掩膜的像素绘制；否则仅在屏幕上平滑。</translation>
    </message>
    <message>
        <source>Shown as probabilities until enough images are labeled for the instant overlay.</source>
        <translation>在为即时预测标注足够多的图片之前，仅显示概率。</translation>
    </message>
    <message>
        <source>Shown as probabilities until the model in training matches the labels better.</source>
        <translation>在训练中的模型与标注更接近之前，显示为概率图。</translation>
    </message>
    <message>
        <source>Prediction for this image at an earlier training step</source>
        <translation>此图片在更早训练步的预测</translation>
    </message>
    <message>
        <source>Class of the threshold</source>
        <translation>阈值所属类别</translation>
    </message>
    <message>
        <source>Threshold of the run</source>
        <translation>此训练记录的阈值</translation>
    </message>
    <message>
        <source>Shown as probabilities, as the model does not match the labels well enough.</source>
        <translation>模型与标注相差较大，因此显示为概率图。</translation>
    </message>
    <message>
        <source>Various</source>
        <translation>多个值</translation>
    </message>
    <message>
        <source>Reset to the thresholds of the run</source>
        <translation>恢复此训练记录的阈值</translation>
    </message>
    <message>
        <source>Defect probability of each pixel; for a verdict, the image areas that influenced it most</source>
        <translation>每个像素的缺陷概率；对整图判定则为影响最大的区域</translation>
    </message>
    <message>
        <source>Areas where the two most likely classes have nearly the same probability</source>
        <translation>前两个类别概率接近的区域</translation>
    </message>
    <message>
        <source>Step {n}</source>
        <translation>第 {n} 步</translation>
    </message>
    <message>
        <source>Threshold</source>
        <translation>阈值</translation>
    </message>
    <message>
        <source>Minimum probability for a defect pixel. Affects this view only; the run keeps its own threshold.</source>
        <translation>像素判为缺陷的最低概率。仅影响当前显示，不改变训练记录的阈值。</translation>
    </message>
    <message>
        <source>Latest step</source>
        <translation>最新步骤</translation>
    </message>
    <message>
        <source>All classes</source>
        <translation>全部类别</translation>
    </message>
</context>
<context>
    <name>PredictionDisplayMenu</name>
    <message>
        <source>Predictions as &amp;outlines</source>
        <translation>用轮廓显示预测(&amp;O)</translation>
    </message>
    <message>
        <source>Predictions as &amp;filled areas</source>
        <translation>用填充区域显示预测(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Probability map</source>
        <translation>概率图(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Uncertainty map</source>
        <translation>不确定度图(&amp;U)</translation>
    </message>
    <message>
        <source>Earlier predictions are stored during a training only</source>
        <translation>只有训练期间才会保存较早的预测</translation>
    </message>
    <message>
        <source>Prediction displa&amp;y</source>
        <translation>预测显示方式(&amp;Y)</translation>
    </message>
    <message>
        <source>&amp;Next prediction display</source>
        <translation>切换预测显示方式(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Earlier training step</source>
        <translation>更早的训练步(&amp;E)</translation>
    </message>
    <message>
        <source>Prediction for this image at an earlier training step</source>
        <translation>训练早期对此图片的预测</translation>
    </message>
    <message>
        <source>&amp;Later training step</source>
        <translation>更晚的训练步(&amp;L)</translation>
    </message>
    <message>
        <source>Prediction for this image at a later training step</source>
        <translation>较晚训练步对此图片的预测</translation>
    </message>
    <message>
        <source>Reset &amp;thresholds</source>
        <translation>重置阈值(&amp;T)</translation>
    </message>
    <message>
        <source>The thresholds of the run are in use</source>
        <translation>正在使用训练记录的阈值</translation>
    </message>
    <message>
        <source>Use the thresholds of the run again</source>
        <translation>恢复使用训练记录的阈值</translation>
    </message>
    <message>
        <source>&amp;Instant overlay</source>
        <translation>即时预测(&amp;I)</translation>
    </message>
    <message>
        <source>Without a training, show after each stroke where images resemble the labeled defects</source>
        <translation>无需训练，每画一笔后即显示图片中与已标注缺陷相似之处</translation>
    </message>
</context>
<context>
    <name>PredictionOverlay</name>
    <message>
        <source>Predicting…</source>
        <translation>正在预测…</translation>
    </message>
    <message>
        <source>Press {key} to predict</source>
        <translation>按 {key} 进行预测</translation>
    </message>
    <message>
        <source>the model still marks almost everything</source>
        <translation>模型目前几乎标出全部区域</translation>
    </message>
    <message>
        <source>the model still marks far too much</source>
        <translation>模型目前标出的区域过多</translation>
    </message>
    <message>
        <source>the model still marks many small regions</source>
        <translation>模型目前标出许多零碎区域</translation>
    </message>
    <message>
        <source>the model still marks almost nothing</source>
        <translation>模型目前几乎没有标出区域</translation>
    </message>
    <message>
        <source>the model is still uncertain</source>
        <translation>模型目前还不确定</translation>
    </message>
    <message>
        <source>the model does not match the labels yet</source>
        <translation>模型与标注尚不一致</translation>
    </message>
    <message>
        <source>the model is not measured yet</source>
        <translation>模型尚未测量</translation>
    </message>
    <message>
        <source>Prediction: almost everything</source>
        <translation>预测：几乎全部区域</translation>
    </message>
    <message>
        <source>Prediction: far too much</source>
        <translation>预测：区域过多</translation>
    </message>
    <message>
        <source>Prediction: many small regions</source>
        <translation>预测：许多零碎区域</translation>
    </message>
    <message>
        <source>Prediction: uncertain</source>
        <translation>预测：不确定</translation>
    </message>
    <message>
        <source>Prediction: does not match labels</source>
        <translation>预测：与标注不一致</translation>
    </message>
    <message>
        <source>{verdict} {n} of {total}</source>
        <translation>{verdict} {n} / {total}</translation>
    </message>
    <message>
        <source>largest {area}, {name}</source>
        <translation>最大 {area}，{name}</translation>
    </message>
    <message>
        <source>{text} (without a verdict rule, an image with a region is NG)</source>
        <translation>{text}（没有判定规则时，有区域的图片为 NG）</translation>
    </message>
    <message>
        <source>After step {step}</source>
        <translation>第 {step} 步之后</translation>
    </message>
    <message>
        <source>no regions</source>
        <translation>无区域</translation>
    </message>
    <message>
        <source>1 region</source>
        <translation>1 个区域</translation>
    </message>
    <message>
        <source>{n} regions</source>
        <translation>{n} 个区域</translation>
    </message>
    <message>
        <source>Instant overlay: 1 labeled image</source>
        <translation>即时预测：1 张已标注图片</translation>
    </message>
    <message>
        <source>Instant overlay: {n} labeled images</source>
        <translation>即时预测：{n} 张已标注图片</translation>
    </message>
    <message>
        <source>Instant overlay: Dice {dice}</source>
        <translation>即时预测：Dice {dice}</translation>
    </message>
    <message>
        <source>Instant overlay: Dice {dice} (trained model {trained})</source>
        <translation>即时预测：Dice {dice}（已训练模型 {trained}）</translation>
    </message>
    <message>
        <source>After step {step}: {result}</source>
        <translation>第 {step} 步之后：{result}</translation>
    </message>
    <message>
        <source>Prediction: no defects</source>
        <translation>预测：无缺陷</translation>
    </message>
    <message>
        <source>Prediction: 1 defect</source>
        <translation>预测：1 处缺陷</translation>
    </message>
    <message>
        <source>Prediction: {n} defects</source>
        <translation>预测：{n} 处缺陷</translation>
    </message>
    <message>
        <source>{prediction}; verdict: {verdict}</source>
        <translation>{prediction}；判定：{verdict}</translation>
    </message>
    <message>
        <source>{prediction}. Unlike the training images: {why}</source>
        <translation>{prediction}。与训练图片不符：{why}</translation>
    </message>
    <message>
        <source>Prediction: unsure, most likely {verdict} ({probability})</source>
        <translation>预测：不确定，最可能为“{verdict}”（{probability}）</translation>
    </message>
    <message>
        <source>Prediction: {verdict}</source>
        <translation>预测：{verdict}</translation>
    </message>
    <message>
        <source>Prediction: {verdict} ({probability})</source>
        <translation>预测：{verdict}（{probability}）</translation>
    </message>
    <message>
        <source>Prediction (thresholds changed)</source>
        <translation>预测（阈值已调整）</translation>
    </message>
</context>
<context>
    <name>PreferenceFields</name>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>System default</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>文字大小</translation>
    </message>
    <message>
        <source> px</source>
        <translation> 像素</translation>
    </message>
    <message>
        <source>After “Mark as done”, open</source>
        <translation>“标为已完成”后打开</translation>
    </message>
    <message>
        <source>Next image</source>
        <translation>下一张图片</translation>
    </message>
    <message>
        <source>Next image not done</source>
        <translation>下一张未完成的图片</translation>
    </message>
    <message>
        <source>No other image</source>
        <translation>不打开其他图片</translation>
    </message>
    <message>
        <source>Label opacity</source>
        <translation>标注不透明度</translation>
    </message>
    <message>
        <source>Brush size</source>
        <translation>画笔大小</translation>
    </message>
    <message>
        <source>Grow and shrink by</source>
        <translation>扩大和缩小的步长</translation>
    </message>
    <message>
        <source>Magic wand: smoothing</source>
        <translation>魔棒：平滑</translation>
    </message>
    <message>
        <source>Crack tracer: max. width</source>
        <translation>裂纹追踪：最大宽度</translation>
    </message>
    <message>
        <source>Magic wand: tolerance from the image</source>
        <translation>魔棒：根据图片确定容差</translation>
    </message>
    <message>
        <source>Magic wand: fill holes</source>
        <translation>魔棒：填充孔洞</translation>
    </message>
    <message>
        <source>Brush: fill closed strokes</source>
        <translation>画笔：填充闭合笔画</translation>
    </message>
    <message>
        <source>Adjust the stroke width to the pen pressure</source>
        <translation>按笔压调整笔画宽度</translation>
    </message>
    <message>
        <source>ONNX networks (*.onnx)</source>
        <translation>ONNX 网络 (*.onnx)</translation>
    </message>
    <message>
        <source>Image encoder</source>
        <translation>图片编码器</translation>
    </message>
    <message>
        <source>Mask decoder</source>
        <translation>掩膜解码器</translation>
    </message>
    <message>
        <source>Pixel values</source>
        <translation>像素值</translation>
    </message>
    <message>
        <source>Default of the model</source>
        <translation>模型默认值</translation>
    </message>
    <message>
        <source>Normalized (ImageNet)</source>
        <translation>归一化（ImageNet）</translation>
    </message>
    <message>
        <source>0 to 255</source>
        <translation>0 到 255</translation>
    </message>
    <message>
        <source>0 to 1</source>
        <translation>0 到 1</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Time limit</source>
        <translation>时间限制</translation>
    </message>
    <message>
        <source> min</source>
        <translation> 分钟</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Automatic uses the GPU if there is one.</source>
        <translation>“自动”会在有 GPU 时使用 GPU。</translation>
    </message>
</context>
<context>
    <name>PreferencesDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Labels are saved automatically half a second after each change, and before that in a journal. Nothing has to be saved manually.</source>
        <translation>每次修改后半秒自动保存标注，在此之前已写入日志，无需手动保存。</translation>
    </message>
    <message>
        <source>In place of its built-in network, the click segmentation can use two ONNX files of your own: image encoder and mask decoder of a model of the Segment Anything family (SAM, MobileSAM, EdgeSAM, EfficientSAM, SAM 2). They are computed on the CPU of this computer, and nothing is downloaded.</source>
        <translation>点击分割可以使用您自己的两个 ONNX 文件代替内置网络：Segment Anything 系列模型（SAM、MobileSAM、EdgeSAM、EfficientSAM、SAM 2）的图片编码器和掩膜解码器。它们在本机的 CPU 上计算，不下载任何内容。</translation>
    </message>
    <message>
        <source>All other training settings: Train &gt; Training settings.</source>
        <translation>其他训练设置：训练 &gt; 训练设置。</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Labeling</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>Click model</source>
        <translation>点击分割模型</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Keyboard</source>
        <translation>键盘</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Reset all shortcuts</source>
        <translation>重置全部快捷键</translation>
    </message>
    <message>
        <source>Restore defaults</source>
        <translation>恢复默认值</translation>
    </message>
    <message>
        <source>Restore the defaults of this page</source>
        <translation>恢复本页的默认值</translation>
    </message>
</context>
<context>
    <name>PreviewStrip</name>
    <message>
        <source>Preview of the labels</source>
        <translation>标注预览</translation>
    </message>
</context>
<context>
    <name>ProjectCommands</name>
    <message>
        <source>Folder of images</source>
        <translation>图片文件夹</translation>
    </message>
    <message>
        <source>Open project</source>
        <translation>打开项目</translation>
    </message>
    <message>
        <source>Other folder: {path}</source>
        <translation>另一个文件夹：{path}</translation>
    </message>
    <message>
        <source>Other folder, not available now: {path}</source>
        <translation>另一个文件夹（目前不可用）：{path}</translation>
    </message>
    <message>
        <source>Opened folder: {path}</source>
        <translation>要打开的文件夹：{path}</translation>
    </message>
    <message>
        <source>Copy: this folder becomes a project of its own. The other folder stays as it is.</source>
        <translation>副本：此文件夹成为独立的项目，另一个文件夹保持不变。</translation>
    </message>
    <message>
        <source>Moved: the project continues in this folder.</source>
        <translation>已移动：项目在此文件夹中继续。</translation>
    </message>
    <message>
        <source>The last changes in another folder of this project could not be saved there.</source>
        <translation>此项目在另一个文件夹中的最后几处更改未能保存到那里。</translation>
    </message>
    <message>
        <source>Copy: this folder becomes a project of its own. The changes stay with the other folder.</source>
        <translation>副本：此文件夹成为独立的项目，这些更改留给另一个文件夹。</translation>
    </message>
    <message>
        <source>Moved: the project continues in this folder, and the changes are saved here.</source>
        <translation>已移动：项目在此文件夹中继续，这些更改保存到这里。</translation>
    </message>
    <message>
        <source>This project exists in another folder, too.</source>
        <translation>此项目也存在于另一个文件夹中。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>It was moved</source>
        <translation>已移动</translation>
    </message>
    <message>
        <source>It is a copy</source>
        <translation>是副本</translation>
    </message>
    <message>
        <source>Copy or moved?</source>
        <translation>副本还是已移动？</translation>
    </message>
    <message>
        <source>All changes are saved.</source>
        <translation>所有更改均已保存。</translation>
    </message>
    <message>
        <source>Add images</source>
        <translation>添加图片</translation>
    </message>
    <message>
        <source>Images ({patterns})</source>
        <translation>图片 ({patterns})</translation>
    </message>
    <message>
        <source>Add folder of images</source>
        <translation>添加图片文件夹</translation>
    </message>
    <message>
        <source>Drop a single folder to create a new project.</source>
        <translation>拖入单个文件夹可新建项目。</translation>
    </message>
    <message>
        <source>Drop images, a folder of images, labels of another tool, or a project.</source>
        <translation>可拖入图片、图片文件夹、其他工具的标注或项目。</translation>
    </message>
    <message>
        <source>Open or create a project first, then drop the images again.</source>
        <translation>请先打开或新建项目，然后重新拖入图片。</translation>
    </message>
</context>
<context>
    <name>ProjectMenu</name>
    <message>
        <source>&amp;Project</source>
        <translation>项目(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;New project…</source>
        <translation>新建项目(&amp;N)…</translation>
    </message>
    <message>
        <source>Ne&amp;w project from folder…</source>
        <translation>从文件夹新建项目(&amp;W)…</translation>
    </message>
    <message>
        <source>Create a project from a folder of images. The images stay where they are.</source>
        <translation>从图片文件夹创建项目。图片保留在原位置。</translation>
    </message>
    <message>
        <source>&amp;Open project…</source>
        <translation>打开项目(&amp;O)…</translation>
    </message>
    <message>
        <source>Create sa&amp;mple project</source>
        <translation>创建示例项目(&amp;M)</translation>
    </message>
    <message>
        <source>Add &amp;images…</source>
        <translation>添加图片(&amp;I)…</translation>
    </message>
    <message>
        <source>Add &amp;folder…</source>
        <translation>添加文件夹(&amp;F)…</translation>
    </message>
    <message>
        <source>Inbox…</source>
        <translation>收件箱…</translation>
    </message>
    <message>
        <source>Images that the line has kept for labeling: look at them and take them into the project</source>
        <translation>产线为标注保留的图片：查看并取入项目</translation>
    </message>
    <message>
        <source>Results over time…</source>
        <translation>结果随时间的变化…</translation>
    </message>
    <message>
        <source>What a line has found by shift and hour, and what has moved; with a shift report</source>
        <translation>按班次和小时显示产线的结果及其变化，可生成班次报告</translation>
    </message>
    <message>
        <source>Ima&amp;ge folders…</source>
        <translation>图片文件夹(&amp;G)…</translation>
    </message>
    <message>
        <source>Folders with the images of this project, and removed images</source>
        <translation>此项目的图片所在的文件夹，以及已移除的图片</translation>
    </message>
    <message>
        <source>Remo&amp;ve inspection area</source>
        <translation>移除检测区域(&amp;V)</translation>
    </message>
    <message>
        <source>This image has no inspection area</source>
        <translation>此图片没有检测区域</translation>
    </message>
    <message>
        <source>Inspect the images that have this area as a whole again</source>
        <translation>使用该区域的图片重新按整图检测</translation>
    </message>
    <message>
        <source>Inspection area moves with the part…</source>
        <translation>检测区域随零件移动…</translation>
    </message>
    <message>
        <source>Find the part of this image in each image, shifted and rotated, and move the area with it</source>
        <translation>在每张图片中寻找此图片的零件（平移和旋转），并使区域随之移动</translation>
    </message>
    <message>
        <source>Refresh image &amp;list</source>
        <translation>刷新图片列表(&amp;L)</translation>
    </message>
    <message>
        <source>Search the image folders for new and deleted images</source>
        <translation>检查图片文件夹中新增和删除的图片</translation>
    </message>
    <message>
        <source>Impor&amp;t labels…</source>
        <translation>导入标注(&amp;T)…</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>Import labels of other tools, with their images</source>
        <translation>导入其他工具的标注及其图片</translation>
    </message>
    <message>
        <source>E&amp;xport labels…</source>
        <translation>导出标注(&amp;X)…</translation>
    </message>
    <message>
        <source>Write the labels in the format of another tool</source>
        <translation>以其他工具的格式写出标注</translation>
    </message>
    <message>
        <source>Check la&amp;bels…</source>
        <translation>检查标注(&amp;B)…</translation>
    </message>
    <message>
        <source>Find label errors, data leakage and damaged files</source>
        <translation>查找标注错误、数据泄漏和损坏的文件</translation>
    </message>
    <message>
        <source>St&amp;atistics…</source>
        <translation>统计(&amp;A)…</translation>
    </message>
    <message>
        <source>Numbers of images, classes and regions, and region sizes</source>
        <translation>图片、类别和区域的数量以及区域尺寸</translation>
    </message>
    <message>
        <source>&amp;How parts are told apart…</source>
        <translation>如何区分零件(&amp;H)…</translation>
    </message>
    <message>
        <source>By folder, by name, or each image by itself; with the data split that follows</source>
        <translation>按文件夹、按名称，或每张图片单独算作一个零件；并显示由此得到的数据划分</translation>
    </message>
    <message>
        <source>M&amp;erge project…</source>
        <translation>合并项目(&amp;E)…</translation>
    </message>
    <message>
        <source>Add the labels and images of another project, such as a labeled copy</source>
        <translation>添加另一个项目（例如已标注的副本）的标注和图片</translation>
    </message>
    <message>
        <source>&amp;Pack project…</source>
        <translation>打包项目(&amp;P)…</translation>
    </message>
    <message>
        <source>Write the project with all its images to one zip file</source>
        <translation>将项目及其全部图片写入一个 zip 文件</translation>
    </message>
    <message>
        <source>&amp;Unpack project…</source>
        <translation>解包项目(&amp;U)…</translation>
    </message>
    <message>
        <source>Unpack a packed project and open it</source>
        <translation>解包已打包的项目并打开</translation>
    </message>
    <message>
        <source>&amp;Save now</source>
        <translation>立即保存(&amp;S)</translation>
    </message>
    <message>
        <source>Changes are saved automatically within a second. This command saves immediately.</source>
        <translation>更改会在一秒内自动保存。此命令立即保存。</translation>
    </message>
    <message>
        <source>Show project fol&amp;der</source>
        <translation>打开项目文件夹(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Close project</source>
        <translation>关闭项目(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
</context>
<context>
    <name>QAbstractSpinBox</name>
    <message>
        <source>&amp;Step up</source>
        <translation>增大(&amp;S)</translation>
    </message>
    <message>
        <source>Step &amp;down</source>
        <translation>减小(&amp;D)</translation>
    </message>
</context>
<context>
    <name>QKeySequenceEdit</name>
    <message>
        <source>Press shortcut</source>
        <translation>按下快捷键</translation>
    </message>
</context>
<context>
    <name>QLineEdit</name>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
</context>
<context>
    <name>QShortcut</name>
    <message>
        <source>Left</source>
        <translation>←</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>→</translation>
    </message>
    <message>
        <source>Up</source>
        <translation>↑</translation>
    </message>
    <message>
        <source>Down</source>
        <translation>↓</translation>
    </message>
</context>
<context>
    <name>QWidgetTextControl</name>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
</context>
<context>
    <name>QuickProjectDialog</name>
    <message>
        <source>New project from folder</source>
        <translation>从文件夹新建项目</translation>
    </message>
    <message>
        <source>Counting images…</source>
        <translation>正在统计图片…</translation>
    </message>
    <message>
        <source>defect</source>
        <translation>缺陷</translation>
    </message>
    <message>
        <source>&amp;What do you want to find?</source>
        <translation>要检测什么缺陷？(&amp;W)</translation>
    </message>
    <message>
        <source>One or more types of defects, separated by commas. Classes can be added and renamed at any time.</source>
        <translation>一种或多种缺陷，用逗号分隔。类别可随时添加和重命名。</translation>
    </message>
    <message>
        <source>The images stay where they are. Project folder: {path}</source>
        <translation>图片保留在原位置。项目文件夹：{path}</translation>
    </message>
    <message>
        <source>More options…</source>
        <translation>更多选项…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Create project</source>
        <translation>创建项目</translation>
    </message>
    <message>
        <source>This folder contains no images. Images can be added later.</source>
        <translation>此文件夹中没有图片。可稍后添加图片。</translation>
    </message>
    <message>
        <source>1 image</source>
        <translation>1 张图片</translation>
    </message>
    <message>
        <source>{n} images</source>
        <translation>{n} 张图片</translation>
    </message>
    <message>
        <source>Classes of the labels</source>
        <translation>标注中的类别</translation>
    </message>
    <message>
        <source>Labels found: {formats}. Their import is shown after the project is created.</source>
        <translation>发现标注：{formats}。创建项目后将显示导入界面。</translation>
    </message>
</context>
<context>
    <name>RatePlot</name>
    <message>
        <source>Rates over time</source>
        <translation>比例随时间的变化</translation>
    </message>
    <message>
        <source>Images, %</source>
        <translation>图片，%</translation>
    </message>
    <message>
        <source>No results</source>
        <translation>没有结果</translation>
    </message>
</context>
<context>
    <name>RecentProjects</name>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近的项目(&amp;R)</translation>
    </message>
    <message>
        <source>The project {path} was not found.</source>
        <translation>未找到项目 {path}。</translation>
    </message>
    <message>
        <source>Connect its drive, or locate the folder to which it was moved.</source>
        <translation>请连接其所在的磁盘，或定位项目移动后的文件夹。</translation>
    </message>
    <message>
        <source>Locate…</source>
        <translation>定位…</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>从列表中移除</translation>
    </message>
    <message>
        <source>Locate project {name}</source>
        <translation>定位项目 {name}</translation>
    </message>
    <message>
        <source>{folder} holds another project: {name}.</source>
        <translation>{folder} 中是另一个项目：{name}。</translation>
    </message>
    <message>
        <source>Choose the folder to which {name} was moved.</source>
        <translation>请选择 {name} 移动后的文件夹。</translation>
    </message>
    <message>
        <source>{project} – not found</source>
        <translation>{project} – 未找到</translation>
    </message>
    <message>
        <source>No recent projects</source>
        <translation>没有最近的项目</translation>
    </message>
</context>
<context>
    <name>RecentRow</name>
    <message>
        <source>Not found: {folder}</source>
        <translation>未找到：{folder}</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>从列表中移除</translation>
    </message>
    <message>
        <source>Locate…</source>
        <translation>定位…</translation>
    </message>
    <message>
        <source>Choose the folder to which the project was moved</source>
        <translation>选择项目移动后的文件夹</translation>
    </message>
    <message>
        <source>Locate project {name}</source>
        <translation>定位项目 {name}</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove the project from this list. Its folder is not changed.</source>
        <translation>从此列表中移除该项目，项目文件夹不变。</translation>
    </message>
    <message>
        <source>Remove {name} from the list</source>
        <translation>从列表中移除 {name}</translation>
    </message>
</context>
<context>
    <name>RegionButtons</name>
    <message>
        <source>Outline</source>
        <translation>轮廓</translation>
    </message>
    <message>
        <source>Edit outline</source>
        <translation>编辑轮廓</translation>
    </message>
    <message>
        <source>Grow</source>
        <translation>扩大</translation>
    </message>
    <message>
        <source>Shrink</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Smooth</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Fill holes</source>
        <translation>填充孔洞</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
</context>
<context>
    <name>RegionMenu</name>
    <message>
        <source>Change class</source>
        <translation>更改类别</translation>
    </message>
    <message>
        <source>Grow</source>
        <translation>扩大</translation>
    </message>
    <message>
        <source>Shrink</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Edit outline</source>
        <translation>编辑轮廓</translation>
    </message>
    <message>
        <source>Smooth</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Fill holes</source>
        <translation>填充孔洞</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
</context>
<context>
    <name>RejectOption</name>
    <message>
        <source>&amp;Unsure below</source>
        <translation>低于此概率为不确定(&amp;U)</translation>
    </message>
    <message>
        <source>Avoid all errors</source>
        <translation>避免所有错误</translation>
    </message>
    <message>
        <source>Lowest probability at which no given verdict is wrong on these images</source>
        <translation>在这些图片上不出现错误判定的最低概率</translation>
    </message>
    <message>
        <source>Give a verdict for every image</source>
        <translation>对每张图片都给出判定</translation>
    </message>
    <message>
        <source>Save with run</source>
        <translation>保存到训练记录</translation>
    </message>
    <message>
        <source>Predictions and exports of this run are “unsure” below this probability</source>
        <translation>此训练记录的预测和导出在低于该概率时给出“不确定”</translation>
    </message>
    <message>
        <source>Minimum probability of a verdict</source>
        <translation>判定的最低概率</translation>
    </message>
    <message>
        <source>There are no images to evaluate</source>
        <translation>没有可评估的图片</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>This value is saved with the run already</source>
        <translation>该值已保存到训练记录</translation>
    </message>
    <message>
        <source>All {n} images get a verdict, {left} of them wrong.</source>
        <translation>全部 {n} 张图片均给出判定，其中 {left} 张错误。</translation>
    </message>
    <message>
        <source>All {n} images are unsure and need manual inspection.</source>
        <translation>全部 {n} 张图片均不确定，需人工复判。</translation>
    </message>
    <message>
        <source>Of the other {given} {given:verdict|verdicts}, {left} {left:is|are} wrong ({interval}).</source>
        <translation>其余 {given} 个判定中有 {left} 个错误（{interval}）。</translation>
    </message>
    <message>
        <source>This value is saved with the run.</source>
        <translation>该值已保存到训练记录。</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>{unsure} of {n} {n:image|images} ({share}) {unsure:needs|need} manual inspection; {caught} of them would have been wrong.</source>
        <translation>{n} 张中有 {unsure} 张（{share}）需人工复判，其中 {caught} 张原会误判。</translation>
    </message>
</context>
<context>
    <name>ReliabilityPlot</name>
    <message>
        <source>Reliability diagram: predicted probability and share of correct verdicts</source>
        <translation>可靠性图：预测概率与判定正确的比例</translation>
    </message>
    <message>
        <source>Probability, %</source>
        <translation>概率（%）</translation>
    </message>
    <message>
        <source>Correct, %</source>
        <translation>正确率（%）</translation>
    </message>
    <message>
        <source>Mean probability {probability}: {right} of {n} {n:image|images} correct ({share})</source>
        <translation>平均概率 {probability}：{n} 张图片中 {right} 张正确（{share}）</translation>
    </message>
</context>
<context>
    <name>ReportDialog</name>
    <message>
        <source>CSV files (*.csv)</source>
        <translation>CSV 文件 (*.csv)</translation>
    </message>
</context>
<context>
    <name>ResultsModel</name>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Regions</source>
        <translation>区域数</translation>
    </message>
    <message>
        <source>Largest</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>Time, ms</source>
        <translation>时间（ms）</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Skipped: {why}</source>
        <translation>已跳过：{why}</translation>
    </message>
    <message>
        <source>{result}: {why}</source>
        <translation>{result}：{why}</translation>
    </message>
</context>
<context>
    <name>RocPlot</name>
    <message>
        <source>ROC curve</source>
        <translation>ROC 曲线</translation>
    </message>
    <message>
        <source>Good rejected, %</source>
        <translation>拒收的良品（%）</translation>
    </message>
    <message>
        <source>Defective rejected, %</source>
        <translation>拒收的缺陷品（%）</translation>
    </message>
    <message>
        <source>The curve needs good and defective images.</source>
        <translation>绘制曲线需要良品图片和缺陷图片。</translation>
    </message>
</context>
<context>
    <name>RunCompareMenu</name>
    <message>
        <source>Runs to compare</source>
        <translation>要比较的训练记录</translation>
    </message>
    <message>
        <source>Compare with the shown run</source>
        <translation>与当前显示的训练记录比较</translation>
    </message>
    <message>
        <source>{run}  ·  different validation images</source>
        <translation>{run}  ·  验证图片不同</translation>
    </message>
    <message>
        <source>Up to {n} runs.</source>
        <translation>最多 {n} 条训练记录。</translation>
    </message>
    <message>
        <source>Runs with different validation images cannot be compared; their metrics are hidden.</source>
        <translation>验证图片不同的训练记录无法比较，不显示其指标。</translation>
    </message>
    <message>
        <source>No other runs yet</source>
        <translation>还没有其他训练记录</translation>
    </message>
</context>
<context>
    <name>RunDashboard</name>
    <message>
        <source>First steps</source>
        <translation>入门步骤</translation>
    </message>
    <message>
        <source>At {time}</source>
        <translation>{time} 时</translation>
    </message>
    <message>
        <source>Latest</source>
        <translation>最新</translation>
    </message>
    <message>
        <source>Final values</source>
        <translation>最终值</translation>
    </message>
</context>
<context>
    <name>RunSelector</name>
    <message>
        <source>Curves of</source>
        <translation>曲线来自</translation>
    </message>
    <message>
        <source>Run whose curves are shown. The model in use is chosen at the top of the window.</source>
        <translation>显示其曲线的训练记录。正在使用的模型在窗口顶部选择。</translation>
    </message>
    <message>
        <source>Earlier runs</source>
        <translation>以前的训练记录</translation>
    </message>
</context>
<context>
    <name>SampleCreator</name>
    <message>
        <source>Creating the sample project in {path}…</source>
        <translation>正在 {path} 中创建示例项目…</translation>
    </message>
    <message>
        <source>Creating the sample project in {path}: {done} of {total} {total:image|images}</source>
        <translation>正在 {path} 中创建示例项目：{done} / {total} 张图片</translation>
    </message>
</context>
<context>
    <name>SearchField</name>
    <message>
        <source>Name, class:, prob:&lt;0.5</source>
        <translation>名称、class:、prob:&lt;0.5</translation>
    </message>
    <message>
        <source>Search by name or terms</source>
        <translation>按名称或条件搜索</translation>
    </message>
</context>
<context>
    <name>SegmentationEvaluation</name>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Classes included in the metrics and affected by the sliders</source>
        <translation>统计指标和滑块所针对的类别</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详情</translation>
    </message>
    <message>
        <source>Evaluating thresholds…</source>
        <translation>正在评估各阈值…</translation>
    </message>
    <message>
        <source>All classes</source>
        <translation>全部类别</translation>
    </message>
</context>
<context>
    <name>SeparationBar</name>
    <message>
        <source>Good</source>
        <translation>良品</translation>
    </message>
    <message>
        <source>Defective</source>
        <translation>有缺陷</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>The selected images have no defects: they are marked as done, without painting</source>
        <translation>选中的图片没有缺陷：无需涂画，标为已完成</translation>
    </message>
    <message>
        <source>The selected images have defects, to be painted later</source>
        <translation>选中的图片有缺陷，稍后涂画</translation>
    </message>
    <message>
        <source>Go to the next image without a decision</source>
        <translation>不作决定，转到下一张图片</translation>
    </message>
    <message>
        <source>Open the images with defects that are not painted yet, one after the other</source>
        <translation>逐张打开缺陷尚未涂画的图片</translation>
    </message>
    <message>
        <source>Good: {good} · Defects to paint: {to_paint} · Not decided: {undecided}</source>
        <translation>良品：{good} · 待涂画：{to_paint} · 未决定：{undecided}</translation>
    </message>
    <message>
        <source>Not decided: {undecided}</source>
        <translation>未决定：{undecided}</translation>
    </message>
    <message>
        <source>Painted: {n}</source>
        <translation>已涂画：{n}</translation>
    </message>
    <message>
        <source>Otherwise done: {n}</source>
        <translation>其他已完成：{n}</translation>
    </message>
    <message>
        <source>Paint {n} defective {n:image|images}</source>
        <translation>涂画 {n} 张缺陷图片</translation>
    </message>
</context>
<context>
    <name>SettingsHeader</name>
    <message>
        <source>Next {model} training</source>
        <translation>下次 {model} 训练</translation>
    </message>
    <message>
        <source>Shown run: {name}</source>
        <translation>显示的训练记录：{name}</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Training settings</source>
        <translation>训练设置</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Reset to automatic</source>
        <translation>恢复自动值</translation>
    </message>
    <message>
        <source>{setting}: reset to automatic</source>
        <translation>{setting}：恢复自动值</translation>
    </message>
</context>
<context>
    <name>ShortcutChanges</name>
    <message>
        <source>Canvas</source>
        <translation>画布</translation>
    </message>
    <message>
        <source>Menu {name}</source>
        <translation>菜单“{name}”</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Ctrl + drag</source>
        <translation>Ctrl + 拖动</translation>
    </message>
    <message>
        <source>Erase with any tool</source>
        <translation>用任意工具擦除</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Canvas</source>
        <translation>画布</translation>
    </message>
    <message>
        <source>Change shortcuts…</source>
        <translation>更改快捷键…</translation>
    </message>
    <message>
        <source>Polygon: remove a corner</source>
        <translation>多边形：删除一个顶点</translation>
    </message>
    <message>
        <source>Polygon: remove the corner under the pointer</source>
        <translation>多边形：删除指针处的顶点</translation>
    </message>
    <message>
        <source>Polygon, magnetic lasso: remove the last corner</source>
        <translation>多边形、磁性套索：删除最后一个顶点</translation>
    </message>
    <message>
        <source>{key}, double-click</source>
        <translation>{key}、双击</translation>
    </message>
    <message>
        <source>Polygon, magnetic lasso: close and paint</source>
        <translation>多边形、磁性套索：闭合并涂画</translation>
    </message>
    <message>
        <source>Cancel the current stroke or selection</source>
        <translation>取消当前笔画或选区</translation>
    </message>
    <message>
        <source>Accept the suggestion under the pointer</source>
        <translation>接受指针处的预标注</translation>
    </message>
    <message>
        <source>Reject the suggestion under the pointer</source>
        <translation>拒绝指针处的预标注</translation>
    </message>
    <message>
        <source>Grow or shrink the suggestion under the pointer</source>
        <translation>扩大或缩小指针处的预标注</translation>
    </message>
    <message>
        <source>Set the class of the suggestion under the pointer</source>
        <translation>设置指针处预标注的类别</translation>
    </message>
    <message>
        <source>Delete the selected region</source>
        <translation>删除选中的区域</translation>
    </message>
    <message>
        <source>Arrow keys</source>
        <translation>方向键</translation>
    </message>
    <message>
        <source>Move the selected region</source>
        <translation>移动选中的区域</translation>
    </message>
    <message>
        <source>Alt + click</source>
        <translation>Alt + 点击</translation>
    </message>
    <message>
        <source>Pick the class under the pointer</source>
        <translation>拾取指针处的类别</translation>
    </message>
    <message>
        <source>Alt + right drag</source>
        <translation>Alt + 右键拖动</translation>
    </message>
    <message>
        <source>Brush size</source>
        <translation>画笔大小</translation>
    </message>
    <message>
        <source>Ctrl + Shift + wheel</source>
        <translation>Ctrl + Shift + 滚轮</translation>
    </message>
    <message>
        <source>Middle drag, {key} + drag</source>
        <translation>中键拖动、{key} + 拖动</translation>
    </message>
    <message>
        <source>Move the image</source>
        <translation>移动图片</translation>
    </message>
    <message>
        <source>Contrast (horizontal), brightness (vertical)</source>
        <translation>对比度（水平）、亮度（垂直）</translation>
    </message>
    <message>
        <source>Hold {key}</source>
        <translation>按住 {key}</translation>
    </message>
    <message>
        <source>Hide all overlays</source>
        <translation>隐藏所有叠加层</translation>
    </message>
    <message>
        <source>Right-click</source>
        <translation>右键点击</translation>
    </message>
    <message>
        <source>Menu of the region under the pointer</source>
        <translation>指针处区域的菜单</translation>
    </message>
    <message>
        <source>Thumbnails: good images, and next</source>
        <translation>缩略图：标为良品并转到下一张</translation>
    </message>
    <message>
        <source>Thumbnails: defective images, and next</source>
        <translation>缩略图：标为有缺陷并转到下一张</translation>
    </message>
    <message>
        <source>Thumbnails: next image, without a decision</source>
        <translation>缩略图：不作决定，转到下一张</translation>
    </message>
    <message>
        <source>Wheel</source>
        <translation>滚轮</translation>
    </message>
    <message>
        <source>Zoom at the pointer</source>
        <translation>以指针为中心缩放</translation>
    </message>
    <message>
        <source>Shift + right drag</source>
        <translation>Shift + 右键拖动</translation>
    </message>
    <message>
        <source>Shift + click</source>
        <translation>Shift + 点击</translation>
    </message>
</context>
<context>
    <name>ShortcutsPage</name>
    <message>
        <source>Search commands or keys</source>
        <translation>搜索命令或按键</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Shortcut</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>New shortcut</source>
        <translation>新快捷键</translation>
    </message>
    <message>
        <source>Click here and press the new keys</source>
        <translation>点击此处，然后按下新的按键</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Reassign</source>
        <translation>改为此命令</translation>
    </message>
    <message>
        <source>Keep the current shortcut and add this one</source>
        <translation>保留现有快捷键并添加此快捷键</translation>
    </message>
    <message>
        <source>Restore the default shortcut of this command</source>
        <translation>恢复此命令的默认快捷键</translation>
    </message>
    <message>
        <source>{key} is used by “{name}”.</source>
        <translation>{key} 已用于“{name}”。</translation>
    </message>
    <message>
        <source>{key} is used by “{name}” and cannot be reassigned.</source>
        <translation>{key} 已用于“{name}”，不能更改。</translation>
    </message>
    <message>
        <source>This shortcut is free.</source>
        <translation>此快捷键可用。</translation>
    </message>
    <message>
        <source>Click the field and press the new keys.</source>
        <translation>点击输入框，然后按下新的按键。</translation>
    </message>
</context>
<context>
    <name>SizeHistogram</name>
    <message>
        <source>Histogram of region sizes</source>
        <translation>区域尺寸直方图</translation>
    </message>
    <message>
        <source>Regions</source>
        <translation>区域</translation>
    </message>
    <message>
        <source>No regions</source>
        <translation>没有区域</translation>
    </message>
</context>
<context>
    <name>SkippedList</name>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Skipped files</source>
        <translation>已跳过的文件</translation>
    </message>
    <message>
        <source>{n} skipped</source>
        <translation>跳过 {n} 个</translation>
    </message>
    <message>
        <source>{n} remarks</source>
        <translation>{n} 条说明</translation>
    </message>
    <message>
        <source>{n} remark</source>
        <translation>{n} 条说明</translation>
    </message>
    <message>
        <source>{what}: hide</source>
        <translation>{what}：隐藏</translation>
    </message>
    <message>
        <source>{what}: show</source>
        <translation>{what}：显示</translation>
    </message>
</context>
<context>
    <name>SourceCommands</name>
    <message>
        <source>Add image folder</source>
        <translation>添加图片文件夹</translation>
    </message>
    <message>
        <source>Locate folder of “{name}”</source>
        <translation>定位“{name}”的文件夹</translation>
    </message>
    <message>
        <source>Locate folder</source>
        <translation>定位文件夹</translation>
    </message>
    <message>
        <source>None of the labeled images of “{name}” is in this folder.</source>
        <translation>此文件夹中没有“{name}”的任何已标注图片。</translation>
    </message>
    <message>
        <source>With this folder, their labels have no images.</source>
        <translation>使用此文件夹后，这些标注将没有对应的图片。</translation>
    </message>
    <message>
        <source>Use this folder</source>
        <translation>使用此文件夹</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Image folders that are not available: {paths}</source>
        <translation>不可用的图片文件夹：{paths}</translation>
    </message>
    <message>
        <source>Their images are not listed. All labels are kept.</source>
        <translation>其中的图片不会列出。所有标注均已保留。</translation>
    </message>
    <message>
        <source>Image folders…</source>
        <translation>图片文件夹…</translation>
    </message>
    <message>
        <source>Locate folder…</source>
        <translation>定位文件夹…</translation>
    </message>
    <message>
        <source>Remove {name} from the project?</source>
        <translation>从项目中移除 {name}？</translation>
    </message>
    <message>
        <source>Remove {n} {n:image|images} from the project?</source>
        <translation>从项目中移除 {n} 张图片？</translation>
    </message>
    <message>
        <source>Remove the image folder “{name}” from the project?</source>
        <translation>从项目中移除图片文件夹“{name}”？</translation>
    </message>
    <message>
        <source>Labels, and images that were copied into the project, are moved to the trash of the project.</source>
        <translation>标注以及复制到项目中的图片将移到项目的回收站。</translation>
    </message>
    <message>
        <source>Files outside of the project are not changed. You can undo this.</source>
        <translation>项目之外的文件不会更改。此操作可以撤销。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove from project</source>
        <translation>从项目中移除</translation>
    </message>
    <message>
        <source>Moving files…</source>
        <translation>正在移动文件…</translation>
    </message>
    <message>
        <source>Image folder “{name}” removed from the project.</source>
        <translation>已从项目中移除图片文件夹“{name}”。</translation>
    </message>
    <message>
        <source>{name} removed from the project.</source>
        <translation>已从项目中移除 {name}。</translation>
    </message>
    <message>
        <source>{n} {n:image|images} removed from the project.</source>
        <translation>已从项目中移除 {n} 张图片。</translation>
    </message>
    <message>
        <source>{n} label {n:file|files} moved to the trash of the project.</source>
        <translation>已将 {n} 个标注文件移到项目的回收站。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>{n} {n:image|images} restored.</source>
        <translation>已还原 {n} 张图片。</translation>
    </message>
    <message>
        <source>{n} label {n:file|files} restored.</source>
        <translation>已还原 {n} 个标注文件。</translation>
    </message>
    <message>
        <source>Files that exist again were not replaced; the restored copies are in {path}.</source>
        <translation>重新出现的文件未被替换；还原的副本位于 {path}。</translation>
    </message>
</context>
<context>
    <name>SourceQuestion</name>
    <message>
        <source>Nothing has been read from there. Allow it if you know these folders, or trust who made this.</source>
        <translation>尚未从这些位置读取任何内容。只有在您认识这些文件夹或信任其作者时才允许。</translation>
    </message>
    <message>
        <source>An address with two slashes is another computer, which learns your user name.</source>
        <translation>以两个斜杠开头的地址是另一台计算机，它会得知您的用户名。</translation>
    </message>
    <message>
        <source>Images outside of the folder</source>
        <translation>文件夹之外的图片</translation>
    </message>
    <message>
        <source>{path} reads images from outside of its folder. Allow this?</source>
        <translation>{path} 要从其文件夹之外读取图片。允许吗？</translation>
    </message>
    <message>
        <source>Allow</source>
        <translation>允许</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>SourcesDialog</name>
    <message>
        <source>Image folders</source>
        <translation>图片文件夹</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <source>Locate folder…</source>
        <translation>定位文件夹…</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>移除…</translation>
    </message>
    <message>
        <source>Removed from the project</source>
        <translation>已从项目中移除</translation>
    </message>
    <message>
        <source>Removed images and folders can be restored with their labels.</source>
        <translation>移除的图片和文件夹可以连同标注一起还原。</translation>
    </message>
    <message>
        <source>Removed on</source>
        <translation>移除时间</translation>
    </message>
    <message>
        <source>Content</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>Removed images</source>
        <translation>已移除的图片</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>还原</translation>
    </message>
    <message>
        <source>Delete permanently</source>
        <translation>永久删除</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Project</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>Not available</source>
        <translation>不可用</translation>
    </message>
    <message>
        <source>Label files</source>
        <translation>标注文件</translation>
    </message>
    <message>
        <source>Image folder “{name}”</source>
        <translation>图片文件夹“{name}”</translation>
    </message>
    <message>
        <source>{name}, …</source>
        <translation>{name} 等</translation>
    </message>
</context>
<context>
    <name>Sparkline</name>
    <message>
        <source>Metric on the validation images: {value}</source>
        <translation>验证图片上的指标：{value}</translation>
    </message>
</context>
<context>
    <name>SplitChoice</name>
    <message>
        <source>Data split</source>
        <translation>数据划分</translation>
    </message>
    <message>
        <source>Test images</source>
        <translation>测试图片</translation>
    </message>
    <message>
        <source>Validation images</source>
        <translation>验证图片</translation>
    </message>
    <message>
        <source>Validation/test images</source>
        <translation>验证/测试图片</translation>
    </message>
</context>
<context>
    <name>SplitMenu</name>
    <message>
        <source>Data split</source>
        <translation>数据划分</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Training set</source>
        <translation>训练集</translation>
    </message>
    <message>
        <source>Validation set</source>
        <translation>验证集</translation>
    </message>
    <message>
        <source>Test set</source>
        <translation>测试集</translation>
    </message>
</context>
<context>
    <name>SpotBar</name>
    <message>
        <source>Suggest where to look</source>
        <translation>提示可疑点</translation>
    </message>
    <message>
        <source>Searching for spots…</source>
        <translation>正在查找可疑点…</translation>
    </message>
    <message>
        <source>No spot differs from the rest of the image</source>
        <translation>没有与图片其余部分明显不同的可疑点</translation>
    </message>
    <message>
        <source>Spots: {count}</source>
        <translation>可疑点：{count} 个</translation>
    </message>
    <message>
        <source>Spot {number} of {count}</source>
        <translation>第 {number} 个可疑点，共 {count} 个</translation>
    </message>
</context>
<context>
    <name>StageBar</name>
    <message>
        <source>There are no good images</source>
        <translation>没有良品图片</translation>
    </message>
    <message>
        <source>Next step</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Label: {defective} defective, {good} good</source>
        <translation>标注：{defective} 张缺陷，{good} 张良品</translation>
    </message>
    <message>
        <source>Next step: {step}</source>
        <translation>下一步：{step}</translation>
    </message>
    <message>
        <source>Add images</source>
        <translation>添加图片</translation>
    </message>
    <message>
        <source>Add images with defects</source>
        <translation>添加有缺陷的图片</translation>
    </message>
    <message>
        <source>Add a class</source>
        <translation>添加类别</translation>
    </message>
    <message>
        <source>Mark this image as done</source>
        <translation>将此图片标为已完成</translation>
    </message>
    <message>
        <source>Label 1 more image with defects</source>
        <translation>再标注 1 张有缺陷的图片</translation>
    </message>
    <message>
        <source>Label {n} images with defects</source>
        <translation>标注 {n} 张有缺陷的图片</translation>
    </message>
    <message>
        <source>Label {n} more images with defects</source>
        <translation>再标注 {n} 张有缺陷的图片</translation>
    </message>
    <message>
        <source>Separate good and defective</source>
        <translation>区分良品和缺陷图片</translation>
    </message>
    <message>
        <source>Mark 1 more good image as done</source>
        <translation>再将 1 张良品图片标为已完成</translation>
    </message>
    <message>
        <source>Mark {n} good images as done</source>
        <translation>将 {n} 张良品图片标为已完成</translation>
    </message>
    <message>
        <source>Mark {n} more good images as done</source>
        <translation>再将 {n} 张良品图片标为已完成</translation>
    </message>
    <message>
        <source>Add good images</source>
        <translation>添加良品图片</translation>
    </message>
    <message>
        <source>Add a verdict</source>
        <translation>添加判定</translation>
    </message>
    <message>
        <source>Set the verdict of 1 more image</source>
        <translation>再为 1 张图片设置判定</translation>
    </message>
    <message>
        <source>Set the verdict of {n} images</source>
        <translation>为 {n} 张图片设置判定</translation>
    </message>
    <message>
        <source>Set the verdict of {n} more images</source>
        <translation>再为 {n} 张图片设置判定</translation>
    </message>
    <message>
        <source>{defective} defective, {good} good</source>
        <translation>{defective} 张缺陷，{good} 张良品</translation>
    </message>
    <message>
        <source>Set another verdict for 2 images</source>
        <translation>为 2 张图片设置另一种判定</translation>
    </message>
    <message>
        <source>Train 1 minute</source>
        <translation>训练 1 分钟</translation>
    </message>
    <message>
        <source>Train {n} minutes</source>
        <translation>训练 {n} 分钟</translation>
    </message>
    <message>
        <source>Continue labeling</source>
        <translation>继续标注</translation>
    </message>
    <message>
        <source>Training (all images done)</source>
        <translation>正在训练（图片已全部完成）</translation>
    </message>
    <message>
        <source>Training (read-only project)</source>
        <translation>正在训练（只读项目）</translation>
    </message>
    <message>
        <source>Train again</source>
        <translation>重新训练</translation>
    </message>
    <message>
        <source>Train with {n} new {n:label|labels}</source>
        <translation>用 {n} 个新标注训练</translation>
    </message>
    <message>
        <source>Look at 1 missed defect</source>
        <translation>查看 1 处漏检</translation>
    </message>
    <message>
        <source>Look at {n} missed defects</source>
        <translation>查看 {n} 处漏检</translation>
    </message>
    <message>
        <source>Look at 1 false alarm</source>
        <translation>查看 1 处误报</translation>
    </message>
    <message>
        <source>Look at {n} false alarms</source>
        <translation>查看 {n} 处误报</translation>
    </message>
    <message>
        <source>Look at 1 wrong verdict</source>
        <translation>查看 1 个错误判定</translation>
    </message>
    <message>
        <source>Look at {n} wrong verdicts</source>
        <translation>查看 {n} 个错误判定</translation>
    </message>
    <message>
        <source>Evaluate the model</source>
        <translation>评估模型</translation>
    </message>
    <message>
        <source>Label recommended images</source>
        <translation>标注推荐的图片</translation>
    </message>
    <message>
        <source>Export the model</source>
        <translation>导出模型</translation>
    </message>
    <message>
        <source>Exporting…</source>
        <translation>正在导出…</translation>
    </message>
    <message>
        <source>Reading images…</source>
        <translation>正在读取图片…</translation>
    </message>
    <message>
        <source>Predict new images</source>
        <translation>预测新图片</translation>
    </message>
    <message>
        <source>Read-only project</source>
        <translation>只读项目</translation>
    </message>
    <message>
        <source>Paint the defects of an image, then click Done ({key}). Images without defects are marked as done without painting. From {n} images with defects on, some are used to measure the model. Click to open the next image.</source>
        <translation>涂出图片中的缺陷，然后点击“完成”（{key}）。没有缺陷的图片无需涂画，直接标为已完成。有缺陷的图片达到 {n} 张后，其中一部分用于评估模型。点击可打开下一张图片。</translation>
    </message>
    <message>
        <source>Good images teach the model what is normal; some of them measure its false alarms. Click to show all images as thumbnails: {key} marks the selected ones as good.</source>
        <translation>良品图片让模型了解正常状态，其中一部分用来评估误报。点击以缩略图显示全部图片：按 {key} 将选中的图片标为良品。</translation>
    </message>
    <message>
        <source>Set a verdict in the panel on the right. With {n} images and two verdicts, some images are used to measure the model. Click to open the next image.</source>
        <translation>在右侧面板中设置判定。达到 {n} 张图片和两种判定后，其中一部分图片用于评估模型。点击可打开下一张图片。</translation>
    </message>
    <message>
        <source>The training is running. New labels are used in it. Click to open the next image that is not done.</source>
        <translation>训练正在进行，新标注会加入训练。点击可打开下一张未完成的图片。</translation>
    </message>
    <message>
        <source>The training is running. All images are marked as done, so there is nothing left to label.</source>
        <translation>正在训练。所有图片均已完成，没有待标注的图片。</translation>
    </message>
    <message>
        <source>The training is running. The project is read-only in this window, so no image can be labeled.</source>
        <translation>正在训练。此窗口中的项目为只读，无法标注图片。</translation>
    </message>
    <message>
        <source>All images are good images. A model that finds defects learns from images with defects: add some, and label them.</source>
        <translation>所有图片都是良品图片。查找缺陷的模型要从有缺陷的图片中学习：请添加一些并标注。</translation>
    </message>
    <message>
        <source>The model is being exported.</source>
        <translation>正在导出模型。</translation>
    </message>
    <message>
        <source>The labels of the images are being read.</source>
        <translation>正在读取图片的标注。</translation>
    </message>
    <message>
        <source>Label the images that would improve the model most.</source>
        <translation>标注最能改进模型的图片。</translation>
    </message>
    <message>
        <source>Add images of good parts, and mark them as done without painting.</source>
        <translation>添加良品零件的图片，不涂任何内容，标为已完成。</translation>
    </message>
    <message>
        <source>The project is read-only in this window.</source>
        <translation>项目在此窗口中为只读。</translation>
    </message>
    <message>
        <source>Label</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Evaluate</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Show the current image</source>
        <translation>显示当前图片</translation>
    </message>
    <message>
        <source>Show the training panel</source>
        <translation>显示训练面板</translation>
    </message>
    <message>
        <source>Show the evaluation of the model</source>
        <translation>显示模型的评估结果</translation>
    </message>
    <message>
        <source>Choose the export options</source>
        <translation>选择导出选项</translation>
    </message>
</context>
<context>
    <name>StatisticsDialog</name>
    <message>
        <source>Statistics</source>
        <translation>统计</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>度量</translation>
    </message>
    <message>
        <source>Area</source>
        <translation>面积</translation>
    </message>
    <message>
        <source>Length (longest side)</source>
        <translation>长度（最长边）</translation>
    </message>
    <message>
        <source>Region sizes</source>
        <translation>区域尺寸</translation>
    </message>
    <message>
        <source>Save classes as CSV…</source>
        <translation>类别另存为 CSV…</translation>
    </message>
    <message>
        <source>Save regions as CSV…</source>
        <translation>区域另存为 CSV…</translation>
    </message>
    <message>
        <source>Save statistics</source>
        <translation>保存统计</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>刷新</translation>
    </message>
    <message>
        <source>Feret diameter, maximum</source>
        <translation>最大 Feret 直径</translation>
    </message>
    <message>
        <source>Feret diameter, minimum</source>
        <translation>最小 Feret 直径</translation>
    </message>
    <message>
        <source>Number of pixels of the region.</source>
        <translation>区域的像素数。</translation>
    </message>
    <message>
        <source>Length: the greatest distance of two parallel lines that enclose the corners of all pixels.</source>
        <translation>长度：包围全部像素各角点的两条平行线之间的最大距离。</translation>
    </message>
    <message>
        <source>Width: the least distance of two parallel lines that enclose the corners of all pixels.</source>
        <translation>宽度：包围全部像素各角点的两条平行线之间的最小距离。</translation>
    </message>
    <message>
        <source>The project has changed since these numbers were computed.</source>
        <translation>计算这些数值后项目已更改。</translation>
    </message>
    <message>
        <source>All classes</source>
        <translation>全部类别</translation>
    </message>
    <message>
        <source>{n} in total</source>
        <translation>共 {n} 张</translation>
    </message>
    <message>
        <source>{name}: {n}</source>
        <translation>{name}：{n}</translation>
    </message>
    <message>
        <source>other sizes: {n}</source>
        <translation>其他尺寸：{n}</translation>
    </message>
    <message>
        <source>unreadable: {n}</source>
        <translation>无法读取：{n}</translation>
    </message>
    <message>
        <source>done</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>new</source>
        <translation>新图片</translation>
    </message>
    <message>
        <source>in progress</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>no verdict</source>
        <translation>无判定</translation>
    </message>
    <message>
        <source>Verdicts</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>test</source>
        <translation>测试</translation>
    </message>
    <message>
        <source>Next split, {model}</source>
        <translation>下一次数据划分（{model}）</translation>
    </message>
    <message>
        <source>px²</source>
        <translation>px²</translation>
    </message>
    <message>
        <source>Area of a region: the number of its pixels, with a pixel scale in square units.</source>
        <translation>区域面积：其像素数；已知像素尺寸时换算为面积单位。</translation>
    </message>
    <message>
        <source>Connected regions of the class; pixels that touch at a corner are connected.</source>
        <translation>该类别的连通区域；仅以角相接的像素也视为连通。</translation>
    </message>
    <message>
        <source>px</source>
        <translation>px</translation>
    </message>
    <message>
        <source>{measure}, {unit}</source>
        <translation>{measure}，{unit}</translation>
    </message>
    <message>
        <source>Regions</source>
        <translation>区域</translation>
    </message>
    <message>
        <source>Longest side of the bounding box, along rows or columns of the image.</source>
        <translation>外接矩形的最长边，沿图片的行或列方向。</translation>
    </message>
    <message>
        <source>Pixels</source>
        <translation>像素</translation>
    </message>
    <message>
        <source>Smallest, {unit}</source>
        <translation>最小（{unit}）</translation>
    </message>
    <message>
        <source>Median, {unit}</source>
        <translation>中位数（{unit}）</translation>
    </message>
    <message>
        <source>Largest, {unit}</source>
        <translation>最大（{unit}）</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>Test</source>
        <translation>测试</translation>
    </message>
    <message>
        <source>Reading labels: {done} of {total} {total:image|images}</source>
        <translation>正在读取标注：{done} / {total} 张图片</translation>
    </message>
</context>
<context>
    <name>StatusBar</name>
    <message>
        <source>Read-only</source>
        <translation>只读</translation>
    </message>
    <message>
        <source>All saved</source>
        <translation>全部已保存</translation>
    </message>
    <message>
        <source>Saving…</source>
        <translation>正在保存…</translation>
    </message>
    <message>
        <source>Not saved. Retrying…</source>
        <translation>未保存，正在重试…</translation>
    </message>
    <message>
        <source>Reading {total} {total:image|images}…</source>
        <translation>正在读取 {total} 张图片…</translation>
    </message>
    <message>
        <source>{x}, {y}   RGB {value}</source>
        <translation>{x}, {y}   RGB {value}</translation>
    </message>
    <message>
        <source>{x}, {y}   gray {value}</source>
        <translation>{x}, {y}   灰度 {value}</translation>
    </message>
    <message>
        <source>No regions in this image</source>
        <translation>此图片没有区域</translation>
    </message>
    <message>
        <source>ignored</source>
        <translation>忽略</translation>
    </message>
    <message>
        <source>unlabeled</source>
        <translation>未标注</translation>
    </message>
    <message>
        <source>⚠ {n} {n:part of the file is|parts of the file are} damaged</source>
        <translation>⚠ 文件有 {n} 个部分已损坏</translation>
    </message>
    <message>
        <source>Region {number} of {count}</source>
        <translation>区域 {number} / {count}</translation>
    </message>
    <message>
        <source>more than {area}</source>
        <translation>大于 {area}</translation>
    </message>
    <message>
        <source>⚠ smaller than the minimum area ({n} px²); predictions of this size are dropped</source>
        <translation>⚠ 小于最小面积（{n} px²），此尺寸的预测会被滤除</translation>
    </message>
    <message>
        <source>Brush {n} px</source>
        <translation>画笔 {n} 像素</translation>
    </message>
</context>
<context>
    <name>SuggestAllCard</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Predicting {n} {n:image|images}…</source>
        <translation>正在预测 {n} 张图片…</translation>
    </message>
    <message>
        <source>{done} of {total} {total:image|images}, {time} left</source>
        <translation>{done} / {total} 张，剩余 {time}</translation>
    </message>
</context>
<context>
    <name>SuggestionFilter</name>
    <message>
        <source> px²</source>
        <translation> px²</translation>
    </message>
    <message>
        <source>Min. probability</source>
        <translation>最低概率</translation>
    </message>
    <message>
        <source>Hide suggestions of lower probability</source>
        <translation>隐藏概率更低的预标注</translation>
    </message>
    <message>
        <source>Min. area</source>
        <translation>最小面积</translation>
    </message>
    <message>
        <source>Hide smaller suggestions</source>
        <translation>隐藏更小的预标注</translation>
    </message>
    <message>
        <source>Show all suggestions</source>
        <translation>显示全部预标注</translation>
    </message>
    <message>
        <source>{n} hidden · Show all</source>
        <translation>已隐藏 {n} 个 · 全部显示</translation>
    </message>
</context>
<context>
    <name>SuggestionInteractor</name>
    <message>
        <source>{suggestion}, changed</source>
        <translation>{suggestion}，已修改</translation>
    </message>
    <message>
        <source>Space accepts, Del rejects</source>
        <translation>空格接受，Del 拒绝</translation>
    </message>
</context>
<context>
    <name>SuggestionListView</name>
    <message>
        <source>Suggestions</source>
        <translation>预标注</translation>
    </message>
    <message>
        <source>Accept</source>
        <translation>接受</translation>
    </message>
    <message>
        <source>Reject</source>
        <translation>拒绝</translation>
    </message>
</context>
<context>
    <name>SuggestionMenu</name>
    <message>
        <source>Accept</source>
        <translation>接受</translation>
    </message>
    <message>
        <source>Reject</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>Change class</source>
        <translation>更改类别</translation>
    </message>
    <message>
        <source>Grow</source>
        <translation>扩大</translation>
    </message>
    <message>
        <source>Shrink</source>
        <translation>缩小</translation>
    </message>
</context>
<context>
    <name>SuggestionsController</name>
    <message>
        <source>{proposals} {proposals:suggestion|suggestions} in {pictures} {pictures:image|images} to review.</source>
        <translation>{pictures} 张图片中有 {proposals} 个预标注待处理。</translation>
    </message>
    <message>
        <source>Stopped. {text}</source>
        <translation>已停止。{text}</translation>
    </message>
    <message>
        <source>{n} {n:image|images} could not be read and {n:was|were} skipped.</source>
        <translation>{n} 张图片无法读取，已跳过。</translation>
    </message>
</context>
<context>
    <name>SuggestionsPanel</name>
    <message>
        <source>Accept all</source>
        <translation>全部接受</translation>
    </message>
    <message>
        <source>Reject all</source>
        <translation>全部拒绝</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>Restore rejected suggestions ({n})</source>
        <translation>恢复已拒绝的预标注（{n}）</translation>
    </message>
    <message>
        <source>Suggestions appear once enough images are labeled for the instant overlay.</source>
        <translation>为即时预测标注足够多的图片后，将出现预标注。</translation>
    </message>
    <message>
        <source>Suggestions appear once the model in training matches the labels better.</source>
        <translation>训练中的模型与标注更接近后，此处会显示预标注。</translation>
    </message>
    <message>
        <source>This model does not match the labels well enough for suggestions. Train longer, label more defects or raise the threshold.</source>
        <translation>此模型与标注相差较大，不提供预标注。请延长训练时间、标注更多缺陷或提高阈值。</translation>
    </message>
    <message>
        <source>{n} more predicted {n:region is|regions are} not offered: too many, or too large.</source>
        <translation>另有 {n} 个预测区域因数量过多或面积过大未列为预标注。</translation>
    </message>
    <message>
        <source>This model will not suggest these regions again. Can be undone.</source>
        <translation>此模型不再给出这些预标注；可撤销。</translation>
    </message>
    <message>
        <source>Accept all suggestions in this image</source>
        <translation>接受此图片的所有预标注</translation>
    </message>
    <message>
        <source>Suggestions are hidden. Press {key} to show them.</source>
        <translation>预标注已隐藏。按 {key} 显示。</translation>
    </message>
    <message>
        <source>Model predictions that differ from your labels appear here. Accept or reject each one.</source>
        <translation>与现有标注不同的模型预测会显示在这里，请逐一接受或拒绝。</translation>
    </message>
</context>
<context>
    <name>ThumbnailView</name>
    <message>
        <source>Thumbnails</source>
        <translation>缩略图</translation>
    </message>
    <message>
        <source>Image table</source>
        <translation>图片表格</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Select all</source>
        <translation>全选</translation>
    </message>
    <message>
        <source>Back to the image</source>
        <translation>返回图片</translation>
    </message>
    <message>
        <source>{n} selected</source>
        <translation>已选 {n} 张</translation>
    </message>
</context>
<context>
    <name>TrainControls</name>
    <message>
        <source>UNet: segmentation</source>
        <translation>UNet：缺陷分割</translation>
    </message>
    <message>
        <source>ResNet: classification</source>
        <translation>ResNet：整图判定</translation>
    </message>
    <message>
        <source> min</source>
        <translation> 分钟</translation>
    </message>
    <message>
        <source>Training time. The learning rate is scheduled to reach its final value at this time.</source>
        <translation>训练时长。学习率按此时长调度，到时降至终值。</translation>
    </message>
    <message>
        <source>Minutes</source>
        <translation>分钟数</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Export options…</source>
        <translation>导出选项…</translation>
    </message>
    <message>
        <source>Choose formats, detection threshold and maximum time per image</source>
        <translation>选择格式、检出阈值和每张图片的最长时间</translation>
    </message>
    <message>
        <source>Resume training</source>
        <translation>继续训练</translation>
    </message>
    <message>
        <source>Pause training</source>
        <translation>暂停训练</translation>
    </message>
    <message>
        <source>Train</source>
        <translation>开始训练</translation>
    </message>
    <message>
        <source>Stop and keep best model</source>
        <translation>停止并保留最佳模型</translation>
    </message>
    <message>
        <source>Stop training and keep the best model</source>
        <translation>停止训练并保留最佳模型</translation>
    </message>
    <message>
        <source>Start training</source>
        <translation>开始训练</translation>
    </message>
    <message>
        <source>Export {model}</source>
        <translation>导出 {model}</translation>
    </message>
    <message>
        <source>Export a folder that runs without Defect Workbench and gives the same results</source>
        <translation>导出可脱离本软件运行、结果一致的模型文件夹</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>Device for the training. Automatic uses the GPU if there is one.</source>
        <translation>训练设备。“自动”优先使用 GPU。</translation>
    </message>
    <message>
        <source>Open or create a project first</source>
        <translation>请先打开或新建项目</translation>
    </message>
    <message>
        <source>Next training: UNet, trained on masks, predicts a class for each pixel</source>
        <translation>下次训练：UNet，用掩膜训练，预测每个像素的类别</translation>
    </message>
    <message>
        <source>Next training: ResNet, trained on verdicts, predicts a verdict for each image</source>
        <translation>下次训练：ResNet，用判定训练，预测每张图片的判定</translation>
    </message>
    <message>
        <source>Next training: good images only; the model marks what differs from them</source>
        <translation>下一次训练：只使用良品图片，模型标出与其不同的地方</translation>
    </message>
    <message>
        <source>Next training:</source>
        <translation>下次训练：</translation>
    </message>
    <message>
        <source>Training settings</source>
        <translation>训练设置</translation>
    </message>
    <message>
        <source>Good images: anomalies</source>
        <translation>良品图片：异常</translation>
    </message>
    <message>
        <source>Good images</source>
        <translation>良品图片</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Training settings with the reason for each value</source>
        <translation>训练设置及各项取值的原因</translation>
    </message>
    <message>
        <source>Training settings: {n} changed manually</source>
        <translation>训练设置：{n} 项手动修改</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>The model is being exported</source>
        <translation>正在导出模型</translation>
    </message>
    <message>
        <source>Train a model first</source>
        <translation>请先训练模型</translation>
    </message>
    <message>
        <source>Cancel export</source>
        <translation>取消导出</translation>
    </message>
    <message>
        <source>Cancel the export and delete incomplete files</source>
        <translation>取消导出，并删除未完成的文件</translation>
    </message>
    <message>
        <source>Export model</source>
        <translation>导出模型</translation>
    </message>
</context>
<context>
    <name>TrainMenu</name>
    <message>
        <source>&amp;Train</source>
        <translation>训练(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Start or stop training</source>
        <translation>开始或停止训练(&amp;S)</translation>
    </message>
    <message>
        <source>Label an image with a defect or set verdicts first</source>
        <translation>请先标注一张有缺陷的图片，或设置判定</translation>
    </message>
    <message>
        <source>&amp;Pause or resume training</source>
        <translation>暂停或继续训练(&amp;P)</translation>
    </message>
    <message>
        <source>No training is running</source>
        <translation>没有正在进行的训练</translation>
    </message>
    <message>
        <source>Pause training. The time limit is paused as well.</source>
        <translation>暂停训练，计时同时暂停。</translation>
    </message>
    <message>
        <source>&amp;Continuous training</source>
        <translation>持续训练(&amp;C)</translation>
    </message>
    <message>
        <source>After the time limit, training continues with new labels until you stop it</source>
        <translation>到时后用新标注继续训练，直到停止</translation>
    </message>
    <message>
        <source>C&amp;ontinue training with new labels</source>
        <translation>用新标注继续训练(&amp;O)</translation>
    </message>
    <message>
        <source>No finished training can be continued</source>
        <translation>没有可以继续的训练</translation>
    </message>
    <message>
        <source>Continue the shown run with all labels added since it ended</source>
        <translation>用此后新增的全部标注继续训练所显示的训练记录</translation>
    </message>
    <message>
        <source>Keep the computer a&amp;wake</source>
        <translation>保持计算机唤醒(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Training settings…</source>
        <translation>训练设置(&amp;T)…</translation>
    </message>
    <message>
        <source>View and change the settings of the next training, with the reason for each value</source>
        <translation>查看和修改下次训练的设置及各项理由</translation>
    </message>
    <message>
        <source>Settin&amp;gs of this run…</source>
        <translation>此训练记录的设置(&amp;G)…</translation>
    </message>
    <message>
        <source>Train a model first</source>
        <translation>请先训练模型</translation>
    </message>
    <message>
        <source>View the settings of the shown run, with the reason for each value</source>
        <translation>查看所显示训练记录的设置及各项理由</translation>
    </message>
    <message>
        <source>E&amp;valuation</source>
        <translation>评估(&amp;V)</translation>
    </message>
    <message>
        <source>Missed defects and false alarms on validation and test images; choose the detection threshold here</source>
        <translation>查看验证/测试图片上的漏检和误报，并选择检出阈值</translation>
    </message>
    <message>
        <source>Compare runs side by si&amp;de…</source>
        <translation>并排比较训练记录(&amp;D)…</translation>
    </message>
    <message>
        <source>Train two models of the same kind first</source>
        <translation>请先训练两个同类模型</translation>
    </message>
    <message>
        <source>Compare the metrics of two runs on the same images, with the images on which they differ</source>
        <translation>在相同图片上比较两条训练记录的指标，并显示结果不同的图片</translation>
    </message>
    <message>
        <source>Save evaluatio&amp;n report…</source>
        <translation>保存评估报告(&amp;N)…</translation>
    </message>
    <message>
        <source>Open the evaluation of a model first</source>
        <translation>请先打开某个模型的评估</translation>
    </message>
    <message>
        <source>Save metrics, curves and the largest errors of the shown evaluation</source>
        <translation>保存当前评估的指标、曲线和最严重的错误</translation>
    </message>
    <message>
        <source>&amp;How many parts do I need…</source>
        <translation>需要多少零件(&amp;H)…</translation>
    </message>
    <message>
        <source>How many parts are needed to prove a bound on missed parts and false alarms</source>
        <translation>证明漏检和误报不超过某一上限需要多少零件</translation>
    </message>
    <message>
        <source>Gauge stud&amp;y…</source>
        <translation>判定一致性研究(&amp;Y)…</translation>
    </message>
    <message>
        <source>Compare the model with itself on repeated images of parts, and with inspectors</source>
        <translation>用同一零件的重复图片检查模型前后是否一致，并与检验员的判定比较</translation>
    </message>
    <message>
        <source>Predict cu&amp;rrent image</source>
        <translation>预测当前图片(&amp;R)</translation>
    </message>
    <message>
        <source>Show the prediction of the model in use for this image</source>
        <translation>显示当前使用的模型对此图片的预测</translation>
    </message>
    <message>
        <source>Predict &amp;folder…</source>
        <translation>预测文件夹(&amp;F)…</translation>
    </message>
    <message>
        <source>Create masks, overlays and tables for many images</source>
        <translation>为多张图片生成掩膜、叠加图和表格</translation>
    </message>
    <message>
        <source>Generate suggestions for &amp;all images</source>
        <translation>为所有图片生成预标注(&amp;A)</translation>
    </message>
    <message>
        <source>Run the model in use on every image and save its predictions as suggestions</source>
        <translation>用当前使用的模型预测每张图片，并将结果保存为预标注</translation>
    </message>
    <message>
        <source>Start a training or select a run first</source>
        <translation>请先开始训练或选择训练记录</translation>
    </message>
    <message>
        <source>C&amp;urves</source>
        <translation>曲线(&amp;U)</translation>
    </message>
    <message>
        <source>Show &amp;whole run</source>
        <translation>显示完整训练过程(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Compare with other runs…</source>
        <translation>与其他训练记录比较(&amp;C)…</translation>
    </message>
    <message>
        <source>The project has no other run</source>
        <translation>项目中没有其他训练记录</translation>
    </message>
    <message>
        <source>Compare the curves with those of other runs</source>
        <translation>与其他训练记录的曲线比较</translation>
    </message>
    <message>
        <source>Save curves as &amp;image…</source>
        <translation>将曲线保存为图片(&amp;I)…</translation>
    </message>
    <message>
        <source>Save curves as &amp;table…</source>
        <translation>将曲线保存为表格(&amp;T)…</translation>
    </message>
    <message>
        <source>Add &amp;model from file…</source>
        <translation>从文件添加模型(&amp;M)…</translation>
    </message>
    <message>
        <source>Use a segmentation network in ONNX format that another program has trained</source>
        <translation>使用其他程序训练的 ONNX 格式分割网络</translation>
    </message>
    <message>
        <source>&amp;Export model</source>
        <translation>导出模型(&amp;E)</translation>
    </message>
    <message>
        <source>Export a folder that runs without Defect Workbench and gives the same results</source>
        <translation>导出可脱离本软件运行、结果一致的模型文件夹</translation>
    </message>
    <message>
        <source>E&amp;xport options…</source>
        <translation>导出选项(&amp;X)…</translation>
    </message>
    <message>
        <source>Choose formats, operating point and target latency</source>
        <translation>选择格式、工作点和目标耗时</translation>
    </message>
</context>
<context>
    <name>TrainingHeader</name>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Collapse or expand the training panel</source>
        <translation>折叠或展开训练面板</translation>
    </message>
    <message>
        <source>Curves of:</source>
        <translation>曲线来自：</translation>
    </message>
    <message>
        <source>Compare the curves of other runs with this run</source>
        <translation>将其他训练记录的曲线与此记录比较</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
</context>
<context>
    <name>TrainingPanel</name>
    <message>
        <source>{what}, {time} left</source>
        <translation>{what}，剩余 {time}</translation>
    </message>
    <message>
        <source>Reading labels and planning the run…</source>
        <translation>正在读取标注并规划训练…</translation>
    </message>
    <message>
        <source>Finishing the current step and saving the model…</source>
        <translation>正在完成当前训练步并保存模型…</translation>
    </message>
    <message>
        <source>Open or create a project first</source>
        <translation>请先打开或新建项目</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>The project has no images yet</source>
        <translation>项目中还没有图片</translation>
    </message>
    <message>
        <source>The curves appear after the first steps.</source>
        <translation>完成最初几步后显示曲线。</translation>
    </message>
    <message>
        <source>This run has no curves.</source>
        <translation>此训练记录没有曲线。</translation>
    </message>
    <message>
        <source>Select a run above to view its curves, or train a new model.</source>
        <translation>选择上方的训练记录查看曲线，或训练新模型。</translation>
    </message>
    <message>
        <source>To train on the images marked as done, click Train. Curves and predictions update during training.</source>
        <translation>要用标为已完成的图片训练，请点击“开始训练”。训练过程中曲线和预测会实时更新。</translation>
    </message>
    <message>
        <source>Paint a few defects and mark the images as done ({key}), or set verdicts. Then click Train. Curves and predictions update during training.</source>
        <translation>涂画几处缺陷并标为已完成（{key}），或设置判定，然后点击“开始训练”。训练过程中曲线和预测会实时更新。</translation>
    </message>
    <message>
        <source>Time limit reached. Waiting for new labels.</source>
        <translation>已到设定时长，等待新标注。</translation>
    </message>
    <message>
        <source>Time limit reached. Training continues.</source>
        <translation>已到设定时长，继续训练。</translation>
    </message>
    <message>
        <source>{what}: {done} of {total}</source>
        <translation>{what}：{done} / {total}</translation>
    </message>
    <message>
        <source>Finishing…</source>
        <translation>即将完成…</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>{time} left</source>
        <translation>剩余 {time}</translation>
    </message>
    <message>
        <source>{share} done, {time} left</source>
        <translation>已完成 {share}，剩余 {time}</translation>
    </message>
    <message>
        <source>Finishing, {time} over the time limit</source>
        <translation>正在收尾，已超出时长 {time}</translation>
    </message>
    <message>
        <source>{time} left of {planned}</source>
        <translation>剩余 {time}，共 {planned}</translation>
    </message>
    <message>
        <source>Open a project to train.</source>
        <translation>打开一个项目即可训练。</translation>
    </message>
</context>
<context>
    <name>TrainingSettingsDialog</name>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Training settings</source>
        <translation>训练设置</translation>
    </message>
    <message>
        <source>Reset all settings to automatic values</source>
        <translation>将所有设置恢复为自动值</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Save for this project</source>
        <translation>保存到此项目</translation>
    </message>
    <message>
        <source>{n} changed manually</source>
        <translation>{n} 项手动修改</translation>
    </message>
    <message>
        <source>Settings of this run with the reason for each value</source>
        <translation>此训练记录的设置及各项取值的原因</translation>
    </message>
    <message>
        <source>Until then, default values are shown below.</source>
        <translation>在此之前，下方显示默认值。</translation>
    </message>
    <message>
        <source>Analyzing images and labels…</source>
        <translation>正在分析图片和标注…</translation>
    </message>
    <message>
        <source>Settings of the next training with the reason for each value. Changes are saved for this project.</source>
        <translation>下次训练的设置及各项取值的原因。更改会保存到此项目。</translation>
    </message>
    <message>
        <source>Changed manually.</source>
        <translation>手动修改。</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Changed manually. Automatic value: {value}</source>
        <translation>手动修改。自动值：{value}</translation>
    </message>
    <message>
        <source>All automatic</source>
        <translation>全部自动</translation>
    </message>
    <message>
        <source>{setting} cannot be {value}: {why}</source>
        <translation>{setting} 不能为 {value}：{why}</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>UnpackDialog</name>
    <message>
        <source>Unpack project</source>
        <translation>解包项目</translation>
    </message>
    <message>
        <source>Unpack and open</source>
        <translation>解包并打开</translation>
    </message>
    <message>
        <source>Packed project</source>
        <translation>已打包的项目</translation>
    </message>
    <message>
        <source>Folder for the new project folder</source>
        <translation>新项目文件夹所在的文件夹</translation>
    </message>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>Unpack &amp;to</source>
        <translation>解包到(&amp;T)</translation>
    </message>
    <message>
        <source>Unpacking: {done} of {total} {total:file|files}</source>
        <translation>正在解包：{done} / {total} 个文件</translation>
    </message>
    <message>
        <source>Choose a .zip file that was written with “Pack project…”.</source>
        <translation>请选择用“打包项目…”写入的 .zip 文件。</translation>
    </message>
    <message>
        <source>Project: {name}</source>
        <translation>项目：{name}</translation>
    </message>
    <message>
        <source>Canceled. Nothing was unpacked.</source>
        <translation>已取消。未解包任何内容。</translation>
    </message>
</context>
<context>
    <name>VerdictBrowser</name>
    <message>
        <source>Errors</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Wrong verdicts, highest probability first</source>
        <translation>错误判定，按概率降序</translation>
    </message>
    <message>
        <source>Unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>Images below the minimum probability, lowest probability first</source>
        <translation>低于最低概率的图片，按概率升序</translation>
    </message>
    <message>
        <source>Labeled {label}, predicted {predicted}: {n}</source>
        <translation>标注为“{label}”，预测为“{predicted}”：{n} 张</translation>
    </message>
    <message>
        <source>Below {minimum}, lowest probability first: {n}</source>
        <translation>低于 {minimum}，按概率升序：{n} 张</translation>
    </message>
    <message>
        <source>Errors, highest probability first: {n}</source>
        <translation>错误，按概率降序：{n} 张</translation>
    </message>
</context>
<context>
    <name>VerdictButton</name>
    <message>
        <source>Verdict {name}</source>
        <translation>判定 {name}</translation>
    </message>
</context>
<context>
    <name>VerdictEvaluationPage</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Verdict of images without defects, which no verdict&apos;s name tells</source>
        <translation>无缺陷图片的判定（无法从判定名称得知）</translation>
    </message>
    <message>
        <source>Details</source>
        <translation>详细信息</translation>
    </message>
    <message>
        <source>Predicting validation and test images…</source>
        <translation>正在预测验证和测试图片…</translation>
    </message>
    <message>
        <source>This run has no validation or test images to evaluate.</source>
        <translation>此训练记录没有可评估的验证或测试图片。</translation>
    </message>
    <message>
        <source>Mean calibration error (ECE): {error}, without the fitted temperature {raw}.</source>
        <translation>平均校准误差（ECE）：{error}，不使用拟合的温度时为 {raw}。</translation>
    </message>
    <message>
        <source>Verdict of good images…</source>
        <translation>良品图片的判定…</translation>
    </message>
    <message>
        <source>{n} {n:image has|images have} a new verdict that the model does not predict. Train again to include it.</source>
        <translation>{n} 张图片现在的判定不在此模型的判定之内。请重新训练以包含该判定。</translation>
    </message>
    <message>
        <source>Unreadable validation/test images: {n}.</source>
        <translation>无法读取的验证/测试图片：{n} 张。</translation>
    </message>
</context>
<context>
    <name>VerdictGallery</name>
    <message>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Label: {name}</source>
        <translation>标注：{name}</translation>
    </message>
</context>
<context>
    <name>VerdictPanel</name>
    <message>
        <source>Verdicts such as OK and NG apply to the whole image. They are used to train ResNet models.</source>
        <translation>判定（如 OK、NG）针对整张图片，用于训练 ResNet。</translation>
    </message>
    <message>
        <source>New verdict</source>
        <translation>新的判定</translation>
    </message>
    <message>
        <source>Type a name, then press {key}</source>
        <translation>输入名称，然后按 {key}</translation>
    </message>
    <message>
        <source>Add verdict</source>
        <translation>添加判定</translation>
    </message>
    <message>
        <source>Set verdict: {name}</source>
        <translation>设置判定：{name}</translation>
    </message>
    <message>
        <source>{key}: set verdict and go to next</source>
        <translation>{key}：判定并转到下一张</translation>
    </message>
</context>
<context>
    <name>ViewMenu</name>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>Show &amp;labels</source>
        <translation>显示标注(&amp;L)</translation>
    </message>
    <message>
        <source>Show labels. Hold {key} to hide all overlays.</source>
        <translation>显示标注。按住 {key} 可隐藏所有叠加层。</translation>
    </message>
    <message>
        <source>Show &amp;predictions</source>
        <translation>显示预测(&amp;P)</translation>
    </message>
    <message>
        <source>Full scr&amp;een</source>
        <translation>全屏(&amp;E)</translation>
    </message>
    <message>
        <source>The image has no regions</source>
        <translation>此图片没有区域</translation>
    </message>
    <message>
        <source>&amp;Fit to window</source>
        <translation>适合窗口(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;100%</source>
        <translation>&amp;100%</translation>
    </message>
    <message>
        <source>&amp;Zoom in</source>
        <translation>放大(&amp;Z)</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>缩小(&amp;O)</translation>
    </message>
    <message>
        <source>Ne&amp;xt region</source>
        <translation>下一个区域(&amp;X)</translation>
    </message>
    <message>
        <source>Show the next labeled or predicted region at the same zoom</source>
        <translation>以相同缩放比例显示下一个标注或预测区域</translation>
    </message>
    <message>
        <source>Previous &amp;region</source>
        <translation>上一个区域(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Measure</source>
        <translation>测量(&amp;M)</translation>
    </message>
    <message>
        <source>Measure: drag a line to read its length</source>
        <translation>测量：拖出一条线，读取长度</translation>
    </message>
    <message>
        <source>Set pixel s&amp;cale…</source>
        <translation>设置像素尺寸(&amp;C)…</translation>
    </message>
    <message>
        <source>Set the size of a pixel in µm</source>
        <translation>设置每个像素的实际尺寸（µm）</translation>
    </message>
    <message>
        <source>O&amp;verview</source>
        <translation>导航图(&amp;V)</translation>
    </message>
    <message>
        <source>Show the whole image in a corner while only a part is visible</source>
        <translation>仅显示局部时，在角落显示整张图片</translation>
    </message>
    <message>
        <source>&amp;Display</source>
        <translation>显示(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Auto contrast</source>
        <translation>自动对比度(&amp;A)</translation>
    </message>
    <message>
        <source>Stretch to the minimum and maximum gray value</source>
        <translation>拉伸到最小和最大灰度值</translation>
    </message>
    <message>
        <source>In&amp;vert</source>
        <translation>反相(&amp;V)</translation>
    </message>
    <message>
        <source>Show &amp;difference from reference image</source>
        <translation>显示与良品参考图的差异(&amp;D)</translation>
    </message>
    <message>
        <source>Select a reference image first</source>
        <translation>请先选择良品参考图</translation>
    </message>
    <message>
        <source>Use as refere&amp;nce image</source>
        <translation>设为良品参考图(&amp;N)</translation>
    </message>
    <message>
        <source>Use the current image as the defect-free reference image</source>
        <translation>将当前图片设为良品参考图</translation>
    </message>
    <message>
        <source>&amp;Reset display</source>
        <translation>重置显示(&amp;R)</translation>
    </message>
    <message>
        <source>T&amp;humbnail view</source>
        <translation>缩略图视图(&amp;H)</translation>
    </message>
    <message>
        <source>Show all listed images as thumbnails and set verdicts for several images at once</source>
        <translation>以缩略图显示列表中的所有图片，可批量设置判定</translation>
    </message>
    <message>
        <source>Im&amp;ages panel</source>
        <translation>图片面板(&amp;A)</translation>
    </message>
    <message>
        <source>Cla&amp;sses and layers panel</source>
        <translation>类别和图层面板(&amp;S)</translation>
    </message>
    <message>
        <source>Tra&amp;ining panel</source>
        <translation>训练面板(&amp;I)</translation>
    </message>
    <message>
        <source>Sho&amp;w names of tools</source>
        <translation>显示工具名称(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Next panel</source>
        <translation>下一个面板(&amp;N)</translation>
    </message>
    <message>
        <source>Previo&amp;us panel</source>
        <translation>上一个面板(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;System default</source>
        <translation>跟随系统(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>深色(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>浅色(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>System default</source>
        <translation>跟随系统</translation>
    </message>
    <message>
        <source>Lan&amp;guage</source>
        <translation>语言(&amp;G)</translation>
    </message>
</context>
<context>
    <name>Waiting</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>WeightsField</name>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>From file…</source>
        <translation>从文件…</translation>
    </message>
    <message>
        <source>ResNet weights</source>
        <translation>ResNet 权重</translation>
    </message>
    <message>
        <source>Weights ({patterns})</source>
        <translation>权重 ({patterns})</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>Recent projects</source>
        <translation>最近的项目</translation>
    </message>
    <message>
        <source>Unpack a packed project (.zip)…</source>
        <translation>解包已打包的项目（.zip）…</translation>
    </message>
    <message>
        <source>Welcome</source>
        <translation>欢迎</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Label defects, train a model, export it</source>
        <translation>标注缺陷，训练模型，导出部署</translation>
    </message>
    <message>
        <source>New project</source>
        <translation>新建项目</translation>
    </message>
    <message>
        <source>Name the classes, link the images</source>
        <translation>设定类别，指定图片文件夹</translation>
    </message>
    <message>
        <source>Open project</source>
        <translation>打开项目</translation>
    </message>
    <message>
        <source>A project folder on this computer</source>
        <translation>本机上的项目文件夹</translation>
    </message>
    <message>
        <source>Import labels</source>
        <translation>导入标注</translation>
    </message>
    <message>
        <source>From labelme, CVAT, COCO, YOLO and others</source>
        <translation>来自 labelme、CVAT、COCO、YOLO 等</translation>
    </message>
    <message>
        <source>Sample project</source>
        <translation>示例项目</translation>
    </message>
    <message>
        <source>Labeled images to try everything out</source>
        <translation>带标注的图片，可尝试全部功能</translation>
    </message>
    <message>
        <source>Label: separate good and defective images, and paint the defects.</source>
        <translation>标注：分开良品和有缺陷的图片，并涂出缺陷。</translation>
    </message>
    <message>
        <source>Train: a few minutes are enough for a first model. Keep labeling meanwhile.</source>
        <translation>训练：几分钟即可得到第一个模型，期间可继续标注。</translation>
    </message>
    <message>
        <source>Evaluate: look at missed defects and false alarms, and correct labels.</source>
        <translation>评估：查看漏检和误报，并修正标注。</translation>
    </message>
    <message>
        <source>Export: a package that runs on the production line without this program.</source>
        <translation>导出：生成可脱离本软件在产线上运行的模型包。</translation>
    </message>
    <message>
        <source>Drop a folder of images here to create a project</source>
        <translation>将图片文件夹拖放到此处即可创建项目</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>First steps</source>
        <translation>入门步骤</translation>
    </message>
    <message>
        <source>Tour of the window</source>
        <translation>窗口导览</translation>
    </message>
    <message>
        <source>From images to a model</source>
        <translation>从图片到模型</translation>
    </message>
</context>
<context>
    <name>Window</name>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>Suggestions</source>
        <translation>预标注</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>图层</translation>
    </message>
    <message>
        <source>Display</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>{name} (read-only)</source>
        <translation>{name}（只读）</translation>
    </message>
    <message>
        <source>Side panel</source>
        <translation>侧面板</translation>
    </message>
</context>
<context>
    <name>_Condition</name>
    <message>
        <source>Condition of the sentence</source>
        <translation>语句的条件</translation>
    </message>
    <message>
        <source>of any size and place</source>
        <translation>任意尺寸和位置</translation>
    </message>
    <message>
        <source>Zone</source>
        <translation>分区</translation>
    </message>
</context>
<context>
    <name>_ImageTableModel</name>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>零件</translation>
    </message>
    <message>
        <source>Defects</source>
        <translation>缺陷</translation>
    </message>
    <message>
        <source>Missed</source>
        <translation>漏检</translation>
    </message>
    <message>
        <source>Wrong class</source>
        <translation>类别错误</translation>
    </message>
    <message>
        <source>False alarms</source>
        <translation>误报</translation>
    </message>
</context>
<context>
    <name>_Sentence</name>
    <message>
        <source>Number that an image may have</source>
        <translation>图片允许的数量</translation>
    </message>
    <message>
        <source>Class of the sentence</source>
        <translation>语句的类别</translation>
    </message>
    <message>
        <source>Verdict of an image with more</source>
        <translation>超过此数量的图片的判定</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove this sentence</source>
        <translation>移除此语句</translation>
    </message>
    <message>
        <source>At most</source>
        <translation>最多</translation>
    </message>
    <message>
        <source>otherwise</source>
        <translation>否则</translation>
    </message>
</context>
<context>
    <name>_VerdictDelegate</name>
    <message>
        <source>Label: {name}</source>
        <translation>标注：{name}</translation>
    </message>
</context>
<context>
    <name>colors</name>
    <message>
        <source>Amber</source>
        <translation>琥珀色</translation>
    </message>
    <message>
        <source>Sky blue</source>
        <translation>天蓝色</translation>
    </message>
    <message>
        <source>Vermilion</source>
        <translation>朱红色</translation>
    </message>
    <message>
        <source>Green</source>
        <translation>绿色</translation>
    </message>
    <message>
        <source>Mauve</source>
        <translation>藕荷色</translation>
    </message>
    <message>
        <source>Yellow</source>
        <translation>黄色</translation>
    </message>
    <message>
        <source>Blue</source>
        <translation>蓝色</translation>
    </message>
    <message>
        <source>Pink</source>
        <translation>粉红色</translation>
    </message>
    <message>
        <source>Light green</source>
        <translation>浅绿色</translation>
    </message>
    <message>
        <source>Violet</source>
        <translation>紫罗兰色</translation>
    </message>
    <message>
        <source>Turquoise</source>
        <translation>青绿色</translation>
    </message>
    <message>
        <source>Apricot</source>
        <translation>杏色</translation>
    </message>
    <message>
        <source>Lime</source>
        <translation>黄绿色</translation>
    </message>
    <message>
        <source>Light blue</source>
        <translation>浅蓝色</translation>
    </message>
    <message>
        <source>Magenta</source>
        <translation>品红色</translation>
    </message>
    <message>
        <source>Mint</source>
        <translation>薄荷绿色</translation>
    </message>
    <message>
        <source>Red</source>
        <translation>红色</translation>
    </message>
    <message>
        <source>Dark red</source>
        <translation>深红色</translation>
    </message>
    <message>
        <source>Brown</source>
        <translation>棕色</translation>
    </message>
    <message>
        <source>Olive</source>
        <translation>橄榄色</translation>
    </message>
    <message>
        <source>Dark green</source>
        <translation>深绿色</translation>
    </message>
    <message>
        <source>Navy</source>
        <translation>藏青色</translation>
    </message>
    <message>
        <source>Purple</source>
        <translation>紫色</translation>
    </message>
    <message>
        <source>Black</source>
        <translation>黑色</translation>
    </message>
    <message>
        <source>Dark gray</source>
        <translation>深灰色</translation>
    </message>
    <message>
        <source>Gray</source>
        <translation>灰色</translation>
    </message>
    <message>
        <source>Light gray</source>
        <translation>浅灰色</translation>
    </message>
    <message>
        <source>White</source>
        <translation>白色</translation>
    </message>
</context>
<context>
    <name>commands</name>
    <message>
        <source>Open or create a project first</source>
        <translation>请先打开或新建项目</translation>
    </message>
    <message>
        <source>The project is read-only</source>
        <translation>项目为只读</translation>
    </message>
    <message>
        <source>The project has no images yet</source>
        <translation>项目中还没有图片</translation>
    </message>
    <message>
        <source>Open an image first</source>
        <translation>请先打开一张图片</translation>
    </message>
    <message>
        <source>The label of this image cannot be read</source>
        <translation>无法读取此图片的标注</translation>
    </message>
</context>
<context>
    <name>export</name>
    <message>
        <source>Runs everywhere with ONNX Runtime; the usual choice</source>
        <translation>可用 ONNX Runtime 在各种平台上运行；通常首选</translation>
    </message>
    <message>
        <source>For Paddle Lite&apos;s converter and other older tools</source>
        <translation>用于 Paddle Lite 转换器及其他旧工具</translation>
    </message>
    <message>
        <source>For small devices</source>
        <translation>用于小型设备</translation>
    </message>
    <message>
        <source>Same file, run by OpenVINO; often faster on Intel CPUs</source>
        <translation>同一文件，由 OpenVINO 运行；在 Intel CPU 上通常更快</translation>
    </message>
    <message>
        <source>For programs that already use Paddle</source>
        <translation>用于已使用 Paddle 的程序</translation>
    </message>
    <message>
        <source>For computers with an NVIDIA GPU</source>
        <translation>用于有 NVIDIA GPU 的计算机</translation>
    </message>
    <message>
        <source>ONNX, self-contained</source>
        <translation>ONNX（独立模型）</translation>
    </message>
    <message>
        <source>For C#, C++, PLC and vision systems: one image size, all steps but the input check</source>
        <translation>用于 C#、C++、PLC 和视觉系统：固定图片尺寸，包含除输入检查外的全部步骤</translation>
    </message>
    <message>
        <source>Model repository for NVIDIA Triton Inference Server, without the input check</source>
        <translation>NVIDIA Triton 推理服务器的模型仓库，不含输入检查</translation>
    </message>
    <message>
        <source>The export becomes an MLflow model that can be loaded and served</source>
        <translation>导出的文件夹成为可加载和部署的 MLflow 模型</translation>
    </message>
    <message>
        <source>Model files with deploy.yaml or inference.yml for Paddle&apos;s deployment tools</source>
        <translation>带有 deploy.yaml 或 inference.yml 的模型文件，供 Paddle 的部署工具使用</translation>
    </message>
    <message>
        <source>8-bit integers, calibrated on the project&apos;s images</source>
        <translation>8 位整数，按项目图片校准</translation>
    </message>
    <message>
        <source>Reduced precision; only for Paddle</source>
        <translation>低精度；仅用于 Paddle</translation>
    </message>
    <message>
        <source>All results equal</source>
        <translation>结果全部一致</translation>
    </message>
    <message>
        <source>{share} equal</source>
        <translation>{share} 一致</translation>
    </message>
    <message>
        <source>{n} ms</source>
        <translation>{n} 毫秒</translation>
    </message>
    <message>
        <source>An image of typical size takes {time} on this computer.</source>
        <translation>在本机上，常见尺寸的图片用时 {time}。</translation>
    </message>
    <message>
        <source>On the validation images, the model predicts no verdict correctly other than {verdict} ({share} of the images are correct). Set more verdicts or train longer before you use the model.</source>
        <translation>在验证图片上，除“{verdict}”外，模型没有正确预测任何判定（{share} 的图片正确）。使用模型前，请设置更多判定或延长训练时间。</translation>
    </message>
    <message>
        <source>The model detects {found} of {n} {n:defect|defects} in the validation images ({metric}). Label more defects or train longer before you use the model.</source>
        <translation>模型在验证图片中检出 {n} 处缺陷中的 {found} 处（{metric}）。使用模型之前，请标注更多缺陷或延长训练。</translation>
    </message>
    <message>
        <source>Detected {before} → {after} of {all}</source>
        <translation>检出 {before} → {after}，共 {all}</translation>
    </message>
</context>
<context>
    <name>findings</name>
    <message>
        <source>Paused. Progress is saved and the time limit is on hold.</source>
        <translation>已暂停。进度已保存，计时暂停。</translation>
    </message>
    <message>
        <source>The model predicts only background. Train longer or label more defects.</source>
        <translation>模型只预测出背景。请延长训练时间或标注更多缺陷。</translation>
    </message>
    <message>
        <source>Almost no defects are detected yet. Train longer or label more defects.</source>
        <translation>目前几乎没有检出缺陷。请延长训练时间，或标注更多缺陷。</translation>
    </message>
    <message>
        <source>{card} is throttling at {temperature} °C. Check its cooling.</source>
        <translation>{card} 温度达 {temperature} °C，已降频。请检查散热。</translation>
    </message>
    <message>
        <source>Training is running normally.</source>
        <translation>训练正常。</translation>
    </message>
    <message>
        <source>A UNet run and a ResNet run cannot be compared.</source>
        <translation>UNet 与 ResNet 的训练记录无法比较。</translation>
    </message>
    <message>
        <source>Different validation images ({same} in common), so the metrics are not compared.</source>
        <translation>验证图片不同（{same} 张相同），因此不比较指标。</translation>
    </message>
    <message>
        <source>The data differ: {parts}.</source>
        <translation>数据不同：{parts}。</translation>
    </message>
    <message>
        <source>Preparing: building the network and reading the images.</source>
        <translation>正在准备：构建网络并读取图片。</translation>
    </message>
    <message>
        <source>The training process has not responded for {seconds}. Stop training to keep the best model so far.</source>
        <translation>训练进程已 {seconds} 没有响应。停止训练可保留目前的最佳模型。</translation>
    </message>
    <message>
        <source>Training diverged {times}. It was rolled back and the learning rate was reduced.</source>
        <translation>训练发散（{times}）。已回退并降低学习率。</translation>
    </message>
    <message>
        <source>The loss scale dropped {times} because fp16 values overflowed. Set the precision to bf16 or fp32.</source>
        <translation>fp16 数值溢出，损失缩放下降（{times}）。请将精度设为 bf16 或 fp32。</translation>
    </message>
    <message>
        <source>The loss rises again, from {least} to {now}. Reduce the learning rate.</source>
        <translation>损失再次上升，从 {least} 到 {now}。请降低学习率。</translation>
    </message>
    <message>
        <source>No validation images, so model quality is unknown. Label more images, also of other parts.</source>
        <translation>没有验证图片，模型效果未知。请标注更多图片，最好来自不同零件。</translation>
    </message>
    <message>
        <source>No validation image has a defect, so there are no metrics. Label more images with defects.</source>
        <translation>验证图片都没有缺陷，因此没有指标。请标注更多有缺陷的图片。</translation>
    </message>
    <message>
        <source>Training waits for images {share} of the time.</source>
        <translation>训练有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>Training waits for images {share} of the time because the disk is slow.</source>
        <translation>由于磁盘较慢，训练有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>Training waits for images {share} of the time because the CPU is busy.</source>
        <translation>由于 CPU 繁忙，训练有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>The GPU waits for images {share} of the time.</source>
        <translation>GPU 有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>The GPU is idle {share} of the time because the disk is too slow. Move the project to a faster disk.</source>
        <translation>磁盘过慢，GPU 有 {share} 的时间空闲。请将项目移到更快的磁盘。</translation>
    </message>
    <message>
        <source>The GPU waits for images {share} of the time because the CPU is busy.</source>
        <translation>由于 CPU 繁忙，GPU 有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>The memory of this computer is nearly full ({used} of {total}). Close other programs.</source>
        <translation>本机的内存几乎用尽（{used} / {total}）。请关闭其他程序。</translation>
    </message>
    <message>
        <source>The memory of {card} is full ({used} of {total}). Windows then uses main memory, which is several times slower. Reduce the batch size or close other programs.</source>
        <translation>{card} 的显存已满（{used} / {total}）。Windows 会改用内存，速度慢数倍。请减小批大小或关闭其他程序。</translation>
    </message>
    <message>
        <source>The GPU is busy only {load} of the time. Increase the batch size.</source>
        <translation>GPU 只有 {load} 的时间在工作。请增大批大小。</translation>
    </message>
    <message>
        <source>Training is improving.</source>
        <translation>模型仍在改进。</translation>
    </message>
    <message>
        <source>Training is running normally: the loss fell from {first} to {now}.</source>
        <translation>训练正常：损失从 {first} 降到 {now}。</translation>
    </message>
    <message>
        <source>The first training steps are done.</source>
        <translation>已完成最初的训练步。</translation>
    </message>
    <message>
        <source>The classes differ, so the metrics are not compared.</source>
        <translation>类别不同，因此不比较指标。</translation>
    </message>
    <message>
        <source>The labels of {count} validation {count:image differs|images differ}, so the metrics are not compared.</source>
        <translation>{count} 张验证图片的标注不同，因此不比较指标。</translation>
    </message>
    <message>
        <source>Different settings: {settings}.</source>
        <translation>设置不同，{settings}。</translation>
    </message>
    <message>
        <source>{n} more training {n:image|images}</source>
        <translation>训练图片多 {n} 张</translation>
    </message>
    <message>
        <source>{n} fewer training {n:image|images}</source>
        <translation>训练图片少 {n} 张</translation>
    </message>
    <message>
        <source>{n} {n:image|images} with changed labels</source>
        <translation>{n} 张图片的标注已更改</translation>
    </message>
    <message>
        <source>once</source>
        <translation>一次</translation>
    </message>
    <message>
        <source>{n} times</source>
        <translation>{n} 次</translation>
    </message>
    <message>
        <source>second {n}</source>
        <translation>第 {n} 秒</translation>
    </message>
    <message>
        <source>minute {n}</source>
        <translation>第 {n} 分钟</translation>
    </message>
    <message>
        <source>Same images, labels and settings.</source>
        <translation>图片、标注和设置均相同。</translation>
    </message>
    <message>
        <source>{setting} {value} ↔ {other}</source>
        <translation>{setting}：{value} ↔ {other}</translation>
    </message>
    <message>
        <source> ({best} instead of {other})</source>
        <translation>（{best}，当前为 {other}）</translation>
    </message>
    <message>
        <source>{what}: {values}.</source>
        <translation>{what}：{values}。</translation>
    </message>
    <message>
        <source>{metric} (validation images)</source>
        <translation>{metric}（验证图片）</translation>
    </message>
    <message>
        <source>{metric} (validation)</source>
        <translation>{metric}（验证）</translation>
    </message>
    <message>
        <source>The errors of this model are not measured: no validation image shows a defect.</source>
        <translation>此模型的错误未经测量：没有任何验证图片含有缺陷。</translation>
    </message>
    <message>
        <source>{count} of {n} good validation {n:image|images} {count:has|have} a false alarm at a threshold chosen on other parts.</source>
        <translation>以在其他零件上选定的阈值测量，{n} 张良品验证图片中有 {count} 张出现误报。</translation>
    </message>
    <message>
        <source>{count} of {n} {n:defect|defects} in the validation images {count:is|are} missed at a threshold chosen on other parts.</source>
        <translation>以在其他零件上选定的阈值测量，验证图片的 {n} 处缺陷中漏检 {count} 处。</translation>
    </message>
    <message>
        <source>Export {name}</source>
        <translation>导出 {name}</translation>
    </message>
    <message>
        <source>range on other parts unknown</source>
        <translation>其他零件上的范围未知</translation>
    </message>
    <message>
        <source>Possible overfitting: validation results have been getting worse since {moment}. More labels may help, training longer will not.</source>
        <translation>可能过拟合：自{moment}起验证结果变差。增加标注可能有帮助，延长训练没有帮助。</translation>
    </message>
    <message>
        <source>The metrics were still improving when the time was up: a longer training may be better.</source>
        <translation>时间用完时指标仍在提高：更长的训练可能更好。</translation>
    </message>
    <message>
        <source>No improvement since {moment}. More labels may help, training longer will not.</source>
        <translation>自{moment}起没有提高。增加标注可能有帮助，延长训练没有帮助。</translation>
    </message>
    <message>
        <source>{run} stays in use.</source>
        <translation>继续使用 {run}。</translation>
    </message>
    <message>
        <source>This run was stopped early.</source>
        <translation>这条训练记录提前停止。</translation>
    </message>
    <message>
        <source>{run} is better on the validation images{results}.</source>
        <translation>{run} 在验证图片上更好{results}。</translation>
    </message>
    <message>
        <source>Difference on {n} {n:image|images} of {parts} {parts:part|parts}</source>
        <translation>在 {parts} 个零件的 {n} 张图片上的差异</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Model in use: {model}</source>
        <translation>正在使用的模型：{model}</translation>
    </message>
    <message>
        <source>False alarms are not measured: there is no good validation image. The model may alarm on every good part.</source>
        <translation>误报未经测量：没有良品验证图片。模型可能在每个良品上都误报。</translation>
    </message>
    <message>
        <source>False alarms are not measured, as this project has no good images.</source>
        <translation>误报未经测量，因为此项目没有良品图片。</translation>
    </message>
    <message>
        <source>Another program has trained this model. No metrics are stored with it; see Evaluation.</source>
        <translation>此模型由其他程序训练，没有随模型保存的指标；请查看评估。</translation>
    </message>
    <message>
        <source>expect {low} to {high} on other parts</source>
        <translation>其他零件上预计为 {low} 到 {high}</translation>
    </message>
    <message>
        <source>{metric}; {expected}</source>
        <translation>{metric}；{expected}</translation>
    </message>
    <message>
        <source>{metric} on {n} validation {n:image|images}</source>
        <translation>{metric}（{n} 张验证图片）</translation>
    </message>
    <message>
        <source>{count} of {n} good validation {n:image|images} {count:has|have} a false alarm.</source>
        <translation>{n} 张良品验证图片中有 {count} 张出现误报。</translation>
    </message>
    <message>
        <source>{count} of {n} good test {n:image|images} {count:has|have} a false alarm.</source>
        <translation>{n} 张良品测试图片中有 {count} 张有误报。</translation>
    </message>
    <message>
        <source>{count} of {n} {n:defect|defects} in the validation images {count:is|are} missed.</source>
        <translation>验证图片的 {n} 处缺陷中漏检 {count} 处。</translation>
    </message>
    <message>
        <source>{count} of {n} validation {n:image|images} {count:has|have} a wrong verdict.</source>
        <translation>{n} 张验证图片中有 {count} 张判定错误。</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
</context>
<context>
    <name>history</name>
    <message>
        <source>Initial state</source>
        <translation>初始状态</translation>
    </message>
    <message>
        <source>Brush</source>
        <translation>画笔</translation>
    </message>
    <message>
        <source>Eraser</source>
        <translation>橡皮擦</translation>
    </message>
    <message>
        <source>Outline edited</source>
        <translation>编辑轮廓</translation>
    </message>
    <message>
        <source>Suggestion accepted</source>
        <translation>已接受预标注</translation>
    </message>
    <message>
        <source>Suggestion rejected</source>
        <translation>已拒绝预标注</translation>
    </message>
    <message>
        <source>Suggestions restored</source>
        <translation>已恢复预标注</translation>
    </message>
    <message>
        <source>Tiny regions erased</source>
        <translation>已擦除微小区域</translation>
    </message>
    <message>
        <source>Holes filled</source>
        <translation>已填充孔洞</translation>
    </message>
    <message>
        <source>Images removed</source>
        <translation>已移除图片</translation>
    </message>
    <message>
        <source>Image folder removed</source>
        <translation>已移除图片文件夹</translation>
    </message>
    <message>
        <source>Label files removed</source>
        <translation>已移除标注文件</translation>
    </message>
    <message>
        <source>Step restored</source>
        <translation>已恢复到先前步骤</translation>
    </message>
    <message>
        <source>Unpainted areas: unlabeled</source>
        <translation>未涂画区域：未标注</translation>
    </message>
    <message>
        <source>Unpainted areas: background</source>
        <translation>未涂画区域：背景</translation>
    </message>
    <message>
        <source>Click to restore the image to this step. This can be undone.</source>
        <translation>点击恢复到此步，可撤销。</translation>
    </message>
    <message>
        <source>Labels copied</source>
        <translation>已复制标注</translation>
    </message>
    <message>
        <source>Label corrected</source>
        <translation>标注已改正</translation>
    </message>
    <message>
        <source>Label confirmed</source>
        <translation>标注已确认</translation>
    </message>
    <message>
        <source>Strokes recovered</source>
        <translation>已恢复笔画</translation>
    </message>
</context>
<context>
    <name>label_formats</name>
    <message>
        <source>Masks as image files</source>
        <translation>掩膜图片文件</translation>
    </message>
    <message>
        <source>Table of regions (CSV)</source>
        <translation>区域表格（CSV）</translation>
    </message>
    <message>
        <source>Table of verdicts (CSV)</source>
        <translation>判定表（CSV）</translation>
    </message>
    <message>
        <source>One folder per verdict</source>
        <translation>每个判定一个文件夹</translation>
    </message>
    <message>
        <source>{format} ({n})</source>
        <translation>{format}（{n}）</translation>
    </message>
</context>
<context>
    <name>label_losses</name>
    <message>
        <source>the verdict is not exported</source>
        <translation>不导出判定</translation>
    </message>
    <message>
        <source>the mask is not exported</source>
        <translation>不导出掩膜</translation>
    </message>
    <message>
        <source>ignored areas become background</source>
        <translation>忽略区域变为背景</translation>
    </message>
    <message>
        <source>unlabeled areas are not distinguished</source>
        <translation>不区分未标注区域</translation>
    </message>
    <message>
        <source>the verdict replaces the empty mask</source>
        <translation>判定代替空掩膜</translation>
    </message>
    <message>
        <source>several classes become one</source>
        <translation>多个类别合并为一个</translation>
    </message>
    <message>
        <source>there is no mask to export</source>
        <translation>没有可导出的掩膜</translation>
    </message>
    <message>
        <source>there is no verdict to export</source>
        <translation>没有可导出的判定</translation>
    </message>
    <message>
        <source>too many regions for this format</source>
        <translation>区域数量超出该格式的上限</translation>
    </message>
    <message>
        <source>outlines become bounding boxes</source>
        <translation>轮廓变为边界框</translation>
    </message>
</context>
<context>
    <name>plots</name>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Dice, any defect</source>
        <translation>Dice，任意缺陷</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>梯度范数</translation>
    </message>
    <message>
        <source>Loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>solid</source>
        <translation>实线</translation>
    </message>
    <message>
        <source>dashed</source>
        <translation>虚线</translation>
    </message>
    <message>
        <source>dotted</source>
        <translation>点线</translation>
    </message>
    <message>
        <source>dash-dotted</source>
        <translation>点划线</translation>
    </message>
    <message>
        <source>Data wait</source>
        <translation>等待数据</translation>
    </message>
    <message>
        <source>GPU load</source>
        <translation>GPU 负载</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>GPU 显存</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>功率</translation>
    </message>
    <message>
        <source>Clock</source>
        <translation>频率</translation>
    </message>
    <message>
        <source>CPU load</source>
        <translation>CPU 占用率</translation>
    </message>
    <message>
        <source>F1, mean of verdicts</source>
        <translation>F1，各判定平均</translation>
    </message>
    <message>
        <source>Dice of any defect on the validation images. The star marks the model that is kept, by the mean of this Dice and of the mean of classes: the newest one that is not worse than the highest point by more than the standard error of the difference, measured part by part on the same images.</source>
        <translation>验证图片上任意缺陷的 Dice。星号标记所保留的模型，依据是此 Dice 与各类别平均 Dice 的平均值：与最高点相比，下降不超过差值的一个标准误（在相同图片上逐个零件测得）的最新模型。</translation>
    </message>
    <message>
        <source>Only fp16 training uses a loss scale. This run uses {name}.</source>
        <translation>只有 fp16 训练使用损失缩放，此训练记录使用 {name}。</translation>
    </message>
    <message>
        <source>No validation images, so there is no metric.</source>
        <translation>没有验证图片，因此没有指标。</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Patches/s</source>
        <translation>图块/秒</translation>
    </message>
    <message>
        <source>Mean F1 score of the verdicts on the validation images. The star marks the model that is kept: the newest one that is not worse than the highest point by more than the standard error of the difference, measured part by part on the same images.</source>
        <translation>各判定在验证图片上的平均 F1。星号标出保留的模型：与最高点相比，下降不超过差值标准误的最新模型；差值在相同的图片上逐个零件测得。</translation>
    </message>
    <message>
        <source>This run has no data for this curve.</source>
        <translation>此训练记录没有该曲线的数据。</translation>
    </message>
</context>
<context>
    <name>problems</name>
    <message>
        <source>Something went wrong.</source>
        <translation>发生错误。</translation>
    </message>
    <message>
        <source>Choose another folder, or create a project there.</source>
        <translation>请选择其他文件夹，或在那里新建项目。</translation>
    </message>
    <message>
        <source>The folder of {path} is not a Defect Workbench project: this file is that of another program.</source>
        <translation>{path} 所在的文件夹不是 Defect Workbench 项目：该文件属于另一个程序。</translation>
    </message>
    <message>
        <source>{path} already holds a project.</source>
        <translation>{path} 中已有一个项目。</translation>
    </message>
    <message>
        <source>Open it, or choose an empty folder.</source>
        <translation>请打开它，或选择一个空文件夹。</translation>
    </message>
    <message>
        <source>{path} cannot be read: {why}.</source>
        <translation>无法读取 {path}：{why}。</translation>
    </message>
    <message>
        <source>Nothing was changed. Restore the file from a backup or repair it.</source>
        <translation>未做任何更改。请从备份恢复该文件，或修复后重试。</translation>
    </message>
    <message>
        <source>This project is already open for writing in another window or on another computer (process {pid} on {host}).</source>
        <translation>该项目已在其他窗口或其他计算机上打开（主机 {host} 上的进程 {pid}）。</translation>
    </message>
    <message>
        <source>Close it there, or open it here read-only.</source>
        <translation>请在那里关闭，或在此处以只读方式打开。</translation>
    </message>
    <message>
        <source>{path} is not the project that was open here: it holds “{name}”.</source>
        <translation>{path} 不是此处打开的项目：其中的项目为“{name}”。</translation>
    </message>
    <message>
        <source>Choose the folder to which the open project was moved.</source>
        <translation>请选择当前项目移动后所在的文件夹。</translation>
    </message>
    <message>
        <source>project.json was changed by another program, and here as well: {fields}.</source>
        <translation>project.json 被其他程序修改，且此处也修改了相同内容：{fields}。</translation>
    </message>
    <message>
        <source>The values that were set here are kept; the other version is stored as {kept}.</source>
        <translation>已保留此处设置的值；另一版本已另存为 {kept}。</translation>
    </message>
    <message>
        <source>Another program removed from project.json: {names}.</source>
        <translation>其他程序从 project.json 中删除了：{names}。</translation>
    </message>
    <message>
        <source>The version before that is stored as {kept}.</source>
        <translation>删除前的版本已另存为 {kept}。</translation>
    </message>
    <message>
        <source>The project is open read-only, so {what} cannot be saved.</source>
        <translation>项目以只读方式打开，无法保存 {what}。</translation>
    </message>
    <message>
        <source>Close the project in the other window, then open it again.</source>
        <translation>请在另一个窗口中关闭该项目，然后重新打开。</translation>
    </message>
    <message>
        <source>The image {path} cannot be read: {why}.</source>
        <translation>无法读取图片 {path}：{why}。</translation>
    </message>
    <message>
        <source>The reference image {path} is {sample_width} × {sample_height} pixels, but this image is {width} × {height}.</source>
        <translation>良品参考图 {path} 为 {sample_width} × {sample_height} 像素，而此图片为 {width} × {height}。</translation>
    </message>
    <message>
        <source>Choose a reference image of the same size.</source>
        <translation>请选择尺寸相同的良品参考图。</translation>
    </message>
    <message>
        <source>The mask {path} is {mask_width} × {mask_height} pixels, but its image is {width} × {height}.</source>
        <translation>掩膜 {path} 为 {mask_width} × {mask_height} 像素，而其图片为 {width} × {height}。</translation>
    </message>
    <message>
        <source>The mask is not changed and not used. Resize it to the size of its image.</source>
        <translation>掩膜未被更改，也不会使用。请将其调整为图片的尺寸。</translation>
    </message>
    <message>
        <source>The file is not changed. Repair or delete it.</source>
        <translation>文件未被更改。请修复或删除。</translation>
    </message>
    <message>
        <source>The note {path} was written by a newer version of Defect Workbench (format {found}; this version supports up to {known}).</source>
        <translation>备注文件 {path} 由更新版本的 Defect Workbench 写入（格式 {found}；本版本最高支持 {known}）。</translation>
    </message>
    <message>
        <source>The file is not changed, and the labels of this image cannot be edited. Update Defect Workbench.</source>
        <translation>文件未被更改，无法编辑此图片的标注。请更新 Defect Workbench。</translation>
    </message>
    <message>
        <source>The mask {path} could not be restored: {why}.</source>
        <translation>无法恢复掩膜 {path}：{why}。</translation>
    </message>
    <message>
        <source>The mask stays as it is now. Its content before the change of classes is stored as {kept}.</source>
        <translation>掩膜保持当前状态，更改类别之前的内容已保存为 {kept}。</translation>
    </message>
    <message>
        <source>{path} was changed by another program before the changes of the last session could be saved.</source>
        <translation>{path} 在上次会话的更改保存之前被其他程序修改。</translation>
    </message>
    <message>
        <source>Values that both changed are not overwritten. The note with all your changes is stored as {kept}.</source>
        <translation>双方都修改过的值未被覆盖，包含全部更改的备注已保存为 {kept}。</translation>
    </message>
    <message>
        <source>The strokes of the last session in {path} cannot be read: the file is damaged or was written by a newer version.</source>
        <translation>无法读取 {path} 中上次会话的笔画：文件已损坏或由更新的版本写入。</translation>
    </message>
    <message>
        <source>The file is not changed. Nothing else is affected.</source>
        <translation>文件未被更改，其他内容不受影响。</translation>
    </message>
    <message>
        <source>Changes of notes of the last session in {path} cannot be read: the file is damaged or was written by a newer version.</source>
        <translation>无法读取 {path} 中上次会话对备注的更改：文件已损坏或由更新的版本写入。</translation>
    </message>
    <message>
        <source>The index is rebuilt from the files. Labels and images are not affected.</source>
        <translation>索引将由文件重建，标注和图片不受影响。</translation>
    </message>
    <message>
        <source>This project has no images.</source>
        <translation>此项目没有图片。</translation>
    </message>
    <message>
        <source>Copy images into its folder &apos;pictures&apos;, or add an image folder.</source>
        <translation>请将图片复制到项目的“pictures”文件夹，或添加图片文件夹。</translation>
    </message>
    <message>
        <source>No labels in {path} could be imported: {why}.</source>
        <translation>无法从 {path} 导入标注：{why}。</translation>
    </message>
    <message>
        <source>{name} is not a supported label format.</source>
        <translation>{name} 不是受支持的标注格式。</translation>
    </message>
    <message>
        <source>No image is labeled yet, so there is no training data.</source>
        <translation>还没有已标注的图片，因此没有训练数据。</translation>
    </message>
    <message>
        <source>Label at least two images and mark them as done (Enter), then train.</source>
        <translation>请至少标注两张图片并标为已完成（回车），然后再训练。</translation>
    </message>
    <message>
        <source>There are too few verdicts for training: {found} images with {kinds} different verdicts.</source>
        <translation>判定太少，无法训练：{found} 张图片，{kinds} 种判定。</translation>
    </message>
    <message>
        <source>Only this image has the verdict {verdict}. Training needs at least two images per verdict.</source>
        <translation>只有这张图片的判定为 {verdict}。每种判定至少需要两张图片才能训练。</translation>
    </message>
    <message>
        <source>Set this verdict on another image, or change the verdict of this image.</source>
        <translation>请为另一张图片设置此判定，或更改此图片的判定。</translation>
    </message>
    <message>
        <source>Label at least one more image.</source>
        <translation>请至少再标注一张图片。</translation>
    </message>
    <message>
        <source>Classes are being changed in all masks. Labels cannot be edited at the moment.</source>
        <translation>正在更改所有掩膜中的类别，暂时无法编辑标注。</translation>
    </message>
    <message>
        <source>Wait until this is finished, or cancel it in the Classes panel.</source>
        <translation>请等待其完成，或在“类别”面板中取消。</translation>
    </message>
    <message>
        <source>The weights could not be downloaded from {url}: {why}.</source>
        <translation>无法从 {url} 下载权重：{why}。</translation>
    </message>
    <message>
        <source>Run &apos;workbench doctor&apos; to list the available devices.</source>
        <translation>请运行“workbench doctor”查看可用的设备。</translation>
    </message>
    <message>
        <source>PaddlePaddle is not installed, so training is not available.</source>
        <translation>未安装 PaddlePaddle，无法训练。</translation>
    </message>
    <message>
        <source>Choose a folder under runs/ or exports/ of a project, or a copied export.</source>
        <translation>请选择项目 runs/ 或 exports/ 下的文件夹，或复制到别处的模型包。</translation>
    </message>
    <message>
        <source>{name} predicts verdicts of whole images, so it has no regions to suggest.</source>
        <translation>{name} 预测整张图片的判定，没有可预标注的区域。</translation>
    </message>
    <message>
        <source>Use a UNet run, which predicts regions.</source>
        <translation>请使用预测区域的 UNet 训练记录。</translation>
    </message>
    <message>
        <source>The suggestions in {path} cannot be read: {why}.</source>
        <translation>无法读取 {path} 中的预标注：{why}。</translation>
    </message>
    <message>
        <source>Predict the image again, or delete this file. Labels are not affected.</source>
        <translation>请重新预测该图片，或删除此文件。标注不受影响。</translation>
    </message>
    <message>
        <source>The results cannot be written: {why}</source>
        <translation>无法写入结果：{why}</translation>
    </message>
    <message>
        <source>The project is open read-only, because {path} could not be written: {why}.</source>
        <translation>项目以只读方式打开，因为无法写入 {path}：{why}。</translation>
    </message>
    <message>
        <source>{path} is not a Defect Workbench project: it has no project.json.</source>
        <translation>{path} 不是 Defect Workbench 项目：其中没有 project.json。</translation>
    </message>
    <message>
        <source>Training on good images needs at least {images} images of {parts} parts that are marked as good; there are {n} of {m}.</source>
        <translation>用良品图片训练至少需要 {parts} 个零件的 {images} 张良品图片；现有 {m} 个零件的 {n} 张。</translation>
    </message>
    <message>
        <source>Mark images without defects as done, or give them the verdict of good parts.</source>
        <translation>请将没有缺陷的图片标为已完成，或给出良品的判定。</translation>
    </message>
    <message>
        <source>Parts differ too much for a model of good images: {why}.</source>
        <translation>零件之间差异太大，无法使用良品图片模型：{why}。</translation>
    </message>
    <message>
        <source>No model was kept. Label defects and train a UNet.</source>
        <translation>没有保留模型。请标注缺陷并训练 UNet。</translation>
    </message>
    <message>
        <source>The model of the run {name} is a complete network without weights for training, so {what}.</source>
        <translation>训练记录 {name} 的模型是没有训练权重的完整网络，因此{what}。</translation>
    </message>
    <message>
        <source>Choose another folder, or create a project elsewhere and import this folder.</source>
        <translation>请选择其他文件夹，或在别处新建项目后导入此文件夹。</translation>
    </message>
    <message>
        <source>{path} cannot be taken into the project: {why}.</source>
        <translation>无法将 {path} 取入项目：{why}。</translation>
    </message>
    <message>
        <source>Delete it, or copy the folder from the line again.</source>
        <translation>请删除它，或重新从产线复制该文件夹。</translation>
    </message>
    <message>
        <source>The release record of {path} cannot be used: {why}.</source>
        <translation>无法使用 {path} 的发布记录：{why}。</translation>
    </message>
    <message>
        <source>Choose the folder of an export. Those of earlier versions have no record: export the run again.</source>
        <translation>请选择导出的文件夹。早期版本的导出没有记录：请重新导出该训练记录。</translation>
    </message>
    <message>
        <source>{path} is not as it was released: {why}</source>
        <translation>{path} 与发布时不同：{why}</translation>
    </message>
    <message>
        <source>Do not use it. Export the run again, or copy the export from where it is unchanged.</source>
        <translation>请勿使用它。请重新导出该训练记录，或从未改变的位置复制该导出。</translation>
    </message>
    <message>
        <source>{path} was written by a newer version of Defect Workbench (format {found}; this version supports up to {known}).</source>
        <translation>{path} 由更新版本的 Defect Workbench 写入（格式 {found}；本版本最高支持 {known}）。</translation>
    </message>
    <message>
        <source>Update Defect Workbench to open it. Nothing was changed.</source>
        <translation>请更新 Defect Workbench 后再打开。未做任何更改。</translation>
    </message>
    <message>
        <source>{path} reads images from outside of its folder: {places}. Nothing was read from there.</source>
        <translation>{path} 要从其文件夹之外读取图片：{places}。尚未从这些位置读取任何内容。</translation>
    </message>
    <message>
        <source>If you trust it, open it in the window and allow this, or add --trust-sources to the command.</source>
        <translation>如果您信任它，请在窗口中打开并允许，或在命令中添加 --trust-sources。</translation>
    </message>
    <message>
        <source>The project in {path} was open in {other} before: {why}.</source>
        <translation>{path} 中的项目之前在 {other} 中打开过：{why}。</translation>
    </message>
    <message>
        <source>Choose whether this folder is a copy or was moved, as commands do with --as copy or --as moved.</source>
        <translation>请选择此文件夹是副本还是移动后的项目；在命令中使用 --as copy 或 --as moved。</translation>
    </message>
    <message>
        <source>The project in {path} was moved: it was open in {other} before.</source>
        <translation>{path} 中的项目已移动：之前在 {other} 中打开。</translation>
    </message>
    <message>
        <source>Images in {path} had the names of images in the image folder {name}.</source>
        <translation>{path} 中的图片与图片文件夹“{name}”中的图片同名。</translation>
    </message>
    <message>
        <source>Their folder is now {new}.</source>
        <translation>它们的文件夹现在是 {new}。</translation>
    </message>
    <message>
        <source>Labels of {n} {n:image|images} in {other} may now belong to the image folder {name}: {images}.</source>
        <translation>{other} 中 {n} 张图片的标注现在可能属于图片文件夹“{name}”：{images}。</translation>
    </message>
    <message>
        <source>Check the labels of these images in both folders.</source>
        <translation>请检查这两个文件夹中这些图片的标注。</translation>
    </message>
    <message>
        <source>Make the folder writable or free some space, then open the project again.</source>
        <translation>请将该文件夹设为可写或腾出磁盘空间，然后重新打开项目。</translation>
    </message>
    <message>
        <source>Labels of {count} {count:image|images} could not be saved, so the project stays open.</source>
        <translation>{count} 张图片的标注无法保存，因此项目保持打开。</translation>
    </message>
    <message>
        <source>Free some space or make the folder writable, then save again.</source>
        <translation>请腾出磁盘空间或将文件夹设为可写，然后重新保存。</translation>
    </message>
    <message>
        <source>The folder {path} does not exist.</source>
        <translation>文件夹 {path} 不存在。</translation>
    </message>
    <message>
        <source>Check the path.</source>
        <translation>请检查路径。</translation>
    </message>
    <message>
        <source>{n} labeled {n:defect lies|defects lie} outside of this inspection area, and {m} {m:is|are} cut by its edge, on {images} {images:image|images}.</source>
        <translation>有 {n} 个已标注的缺陷位于该检测区域之外，{m} 个被其边缘切断，涉及 {images} 张图片。</translation>
    </message>
    <message>
        <source>Enlarge the area. Use it all the same with --force: these labels then count neither in training nor in metrics.</source>
        <translation>请扩大区域。如仍要使用，请加上 --force：这些标注将不计入训练和指标。</translation>
    </message>
    <message>
        <source>The inspection area in {path} cannot be used: {why}.</source>
        <translation>检测区域文件 {path} 无法使用：{why}。</translation>
    </message>
    <message>
        <source>Draw it in the window, or correct the file: width, height, and polygons with their points.</source>
        <translation>请在窗口中绘制，或修正文件：width、height 以及带有 points 的 polygons。</translation>
    </message>
    <message>
        <source>{path} cannot be used as results of a line: {why}.</source>
        <translation>{path} 不能用作产线结果：{why}。</translation>
    </message>
    <message>
        <source>Choose files of --log-jsonl, or folders of results.</source>
        <translation>请选择 --log-jsonl 的文件或结果文件夹。</translation>
    </message>
    <message>
        <source>The training of {path} cannot be repeated, for {n} {n:reason|reasons}, the first: {why}.</source>
        <translation>{path} 的训练无法重复，原因有 {n} 个，第一个：{why}。</translation>
    </message>
    <message>
        <source>Restore these files as they were when it was exported.</source>
        <translation>请把这些文件恢复为导出时的内容。</translation>
    </message>
    <message>
        <source>The inspection area of {path} moves with the part, but its place was not found: {why}.</source>
        <translation>{path} 的检测区域随零件移动，但未找到其位置：{why}。</translation>
    </message>
    <message>
        <source>Leave the image out, or use another reference image, larger limits, or an area that does not move.</source>
        <translation>请不使用该图片，或改用其他参考图片、更大的限值或不移动的区域。</translation>
    </message>
    <message>
        <source>In {n} of {m} labeled {m:image|images} the place of the inspection area, which moves with the part, was not found, as in {path}: {why}.</source>
        <translation>{m} 张已标注图片中有 {n} 张未找到随零件移动的检测区域的位置，例如 {path}：{why}。</translation>
    </message>
    <message>
        <source>Use another reference image, larger limits, or an area that does not move. With --force these images are left out of training and metrics, and predictions of such images are unsure.</source>
        <translation>请改用其他参考图片、更大的限值或不移动的区域。使用 --force 时，这些图片不计入训练和指标，这类图片的预测为“不确定”。</translation>
    </message>
    <message>
        <source>The verdict rule of the run {run} needs another inspection area: {why}.</source>
        <translation>训练记录 {run} 的判定规则需要另一检测区域：{why}。</translation>
    </message>
    <message>
        <source>Remove the sentence with the zone from the rule first, or draw the zone in this area too.</source>
        <translation>请先从规则中删除使用该分区的语句，或在此区域中也绘制该分区。</translation>
    </message>
    <message>
        <source>The project folder {path} does not exist.</source>
        <translation>项目文件夹 {path} 不存在。</translation>
    </message>
    <message>
        <source>The prediction of {path} has a class or verdict that the project does not have.</source>
        <translation>{path} 的预测结果含有项目中没有的类别或判定。</translation>
    </message>
    <message>
        <source>Add it to the project, or take the image as suggestions.</source>
        <translation>请将其添加到项目中，或把图片作为预标注取入。</translation>
    </message>
    <message>
        <source>Close it in the program that has it open, then try again.</source>
        <translation>请在占用它的程序中将其关闭，然后重试。</translation>
    </message>
    <message>
        <source>{path} could not be written: {why}.</source>
        <translation>无法写入 {path}：{why}。</translation>
    </message>
    <message>
        <source>Free some space or make the folder writable.</source>
        <translation>请腾出磁盘空间或将文件夹设为可写。</translation>
    </message>
    <message>
        <source>Its folder was moved, renamed or disconnected. Move it back or connect the drive, then try again.</source>
        <translation>其文件夹已被移动、重命名或断开连接。请将其移回或重新连接驱动器，然后重试。</translation>
    </message>
    <message>
        <source>Shorten the name of the image or folder: with the added suffix, it is longer than the drive allows.</source>
        <translation>请缩短图片或文件夹的名称：加上后缀后，其长度超过了驱动器的限制。</translation>
    </message>
    <message>
        <source>Nothing was written. Choose another name.</source>
        <translation>未写入任何内容。请选择其他名称。</translation>
    </message>
    <message>
        <source>Make it writable, or close it in the program that has it open, then try again.</source>
        <translation>请将其设为可写，或在打开它的程序中将其关闭，然后重试。</translation>
    </message>
    <message>
        <source>The drive does not support this kind of access. Use a folder on another drive. Nothing was changed.</source>
        <translation>该驱动器不支持这种访问方式。请使用其他驱动器上的文件夹。未做任何更改。</translation>
    </message>
    <message>
        <source>Your changes are kept in memory and saving is retried. Free up disk space or make the folder writable.</source>
        <translation>更改仍在内存中，程序会自动重试保存。请腾出磁盘空间或将文件夹设为可写。</translation>
    </message>
    <message>
        <source>The project folder {path} is not available: {why}.</source>
        <translation>项目文件夹 {path} 不可用：{why}。</translation>
    </message>
    <message>
        <source>Nothing is written in its place. Connect the drive again or move the folder back, then try again.</source>
        <translation>未在原位置写入任何内容。请重新连接磁盘或移回文件夹，然后重试。</translation>
    </message>
    <message>
        <source>The lock of the project {path} was removed, and it is open for writing elsewhere (process {pid} on {host}).</source>
        <translation>项目 {path} 的锁文件已被删除，该项目正在其他位置以可写方式打开（主机 {host} 上的进程 {pid}）。</translation>
    </message>
    <message>
        <source>It is read-only here. Close it there, then open it again.</source>
        <translation>此处为只读。请在那里关闭，然后重新打开。</translation>
    </message>
    <message>
        <source>Nothing was written to {path}: a symbolic link there leads out of the project folder.</source>
        <translation>未写入 {path}：该处的符号链接指向项目文件夹之外。</translation>
    </message>
    <message>
        <source>Replace the link by a folder, then try again.</source>
        <translation>请将该链接换成普通文件夹，然后重试。</translation>
    </message>
    <message>
        <source>The project has no image, image folder or removed images named {name}.</source>
        <translation>项目中没有名为 {name} 的图片、图片文件夹或已移除的图片。</translation>
    </message>
    <message>
        <source>Check the name.</source>
        <translation>请检查名称。</translation>
    </message>
    <message>
        <source>{path} is not a packed project: {why}.</source>
        <translation>{path} 不是已打包的项目：{why}。</translation>
    </message>
    <message>
        <source>Choose a .zip file that was made by packing a project.</source>
        <translation>请选择由打包项目生成的 .zip 文件。</translation>
    </message>
    <message>
        <source>None of the images of {name} is in {path}.</source>
        <translation>{path} 中没有 {name} 的任何图片。</translation>
    </message>
    <message>
        <source>Choose the folder that contains these images at the same paths.</source>
        <translation>请选择以相同路径包含这些图片的文件夹。</translation>
    </message>
    <message>
        <source>The image is skipped.</source>
        <translation>已跳过该图片。</translation>
    </message>
    <message>
        <source>The folder {path} cannot be listed: {why}.</source>
        <translation>无法列出文件夹 {path} 的内容：{why}。</translation>
    </message>
    <message>
        <source>Its images are left out until it can be read.</source>
        <translation>在该文件夹可读之前，其中的图片不会列出。</translation>
    </message>
    <message>
        <source>The name of the image {name} is not valid UTF-8.</source>
        <translation>图片 {name} 的名称不是有效的 UTF-8。</translation>
    </message>
    <message>
        <source>Rename the image to use it here.</source>
        <translation>请重命名该图片后再使用。</translation>
    </message>
    <message>
        <source>The mask {path} cannot be read: {why}.</source>
        <translation>无法读取掩膜 {path}：{why}。</translation>
    </message>
    <message>
        <source>The file is not overwritten. Repair or delete it to label this image again.</source>
        <translation>该文件不会被覆盖。请修复或删除后再标注此图片。</translation>
    </message>
    <message>
        <source>The file is not changed. Make it readable, or close it in the program that has it open.</source>
        <translation>文件未被更改。请将其设为可读，或在打开它的程序中将其关闭。</translation>
    </message>
    <message>
        <source>Close it in that program, then start the training again. Without this image it would be another training.</source>
        <translation>请在占用该文件的程序中将其关闭，然后重新开始训练。缺少这张图片，训练结果会不同。</translation>
    </message>
    <message>
        <source>The mask {path} contains class IDs that are not defined in this project: {ids}.</source>
        <translation>掩膜 {path} 含有此项目未定义的类别 ID：{ids}。</translation>
    </message>
    <message>
        <source>Add these classes, or import the mask again with the right mapping.</source>
        <translation>请添加这些类别，或用正确的对应关系重新导入该掩膜。</translation>
    </message>
    <message>
        <source>The label {path}, which the run has kept for its metrics, was changed or deleted by another program.</source>
        <translation>训练记录为计算指标而保存的标注 {path} 被其他程序更改或删除。</translation>
    </message>
    <message>
        <source>It is used neither for metrics nor for the choice of the best weights.</source>
        <translation>它既不用于计算指标，也不用于选择最佳权重。</translation>
    </message>
    <message>
        <source>The labels of {source} cannot be copied: {why}.</source>
        <translation>无法复制 {source} 的标注：{why}。</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>未做任何更改。</translation>
    </message>
    <message>
        <source>The note {path} cannot be read: {why}.</source>
        <translation>无法读取备注文件 {path}：{why}。</translation>
    </message>
    <message>
        <source>{path} was changed by another program while it was open here.</source>
        <translation>{path} 在此处打开期间被其他程序修改过。</translation>
    </message>
    <message>
        <source>Your changes are kept. The other version is stored as {kept}. Of each file, only the latest versions are stored.</source>
        <translation>您的更改已保留。另一个版本保存为 {kept}。每个文件只保存最近的几个版本。</translation>
    </message>
    <message>
        <source>The mask of {name} was changed by another program since it was open here.</source>
        <translation>{name} 的掩膜在此处打开之后被另一个程序更改。</translation>
    </message>
    <message>
        <source>Your earlier steps on it can no longer be undone or redone. The label is shown as it is now.</source>
        <translation>之前对它的操作无法再撤销或重做。现在显示的是当前的标注。</translation>
    </message>
    <message>
        <source>{path} was changed by another program before your last strokes could be saved.</source>
        <translation>{path} 在最后的笔画保存之前被其他程序修改。</translation>
    </message>
    <message>
        <source>Strokes that no longer fit were not applied. A mask with all your strokes was saved as {kept}.</source>
        <translation>不再吻合的笔画未写入。包含全部笔画的掩膜另存为 {kept}。</translation>
    </message>
    <message>
        <source>The grouping pattern {pattern} cannot be used: {why}.</source>
        <translation>无法使用分组表达式 {pattern}：{why}。</translation>
    </message>
    <message>
        <source>Correct the pattern; that of a project is under &apos;grouping&apos; in project.json. Nested repetitions are slow.</source>
        <translation>请修改模式；项目的模式位于 project.json 的 &apos;grouping&apos; 中。嵌套的重复会很慢。</translation>
    </message>
    <message>
        <source>No part has several images by the rule {repeats}, and there are no verdicts of inspectors.</source>
        <translation>按规则 {repeats}，没有零件有多张图片，也没有检验员的判定。</translation>
    </message>
    <message>
        <source>Put the images of each part into a folder, or give a pattern that matches the part in their names.</source>
        <translation>请将每个零件的图片放入一个文件夹，或给出能匹配文件名中零件部分的模式。</translation>
    </message>
    <message>
        <source>The inspectors&apos; verdicts in {path} cannot be used: {why}.</source>
        <translation>{path} 中检验员的判定无法使用：{why}。</translation>
    </message>
    <message>
        <source>The first column names parts or images, each other column is headed by the name of an inspector.</source>
        <translation>第一列是零件或图片的名称，其余每列的标题是检验员的姓名。</translation>
    </message>
    <message>
        <source>The index of this project was damaged: {why}.</source>
        <translation>此项目的索引已损坏：{why}。</translation>
    </message>
    <message>
        <source>Check the folder and the format.</source>
        <translation>请检查文件夹和格式。</translation>
    </message>
    <message>
        <source>There is no import that can be undone.</source>
        <translation>没有可以撤销的导入。</translation>
    </message>
    <message>
        <source>Choose one of: {known}.</source>
        <translation>请从以下选择：{known}。</translation>
    </message>
    <message>
        <source>Set at least two different verdicts, each on at least two images, then train ResNet.</source>
        <translation>请至少设置两种判定，每种至少两张图片，然后再训练 ResNet。</translation>
    </message>
    <message>
        <source>Only {found} labeled image found; training needs at least two.</source>
        <translation>只有 {found} 张已标注图片，训练至少需要两张。</translation>
    </message>
    <message>
        <source>All labeled images are good images: none has a labeled defect, from which a UNet learns.</source>
        <translation>所有已标注的图片都是良品：没有标注任何缺陷，UNet 无从学习。</translation>
    </message>
    <message>
        <source>Label at least two images with a defect. &apos;workbench spots&apos; lists the spots that differ most.</source>
        <translation>请至少标注两张有缺陷的图片。“workbench spots”会列出差异最大的位置。</translation>
    </message>
    <message>
        <source>This project has no class named {name}.</source>
        <translation>此项目没有名为 {name} 的类别。</translation>
    </message>
    <message>
        <source>Its classes are: {known}.</source>
        <translation>现有类别：{known}。</translation>
    </message>
    <message>
        <source>The class {name} cannot be added: {why}.</source>
        <translation>无法添加类别 {name}：{why}。</translation>
    </message>
    <message>
        <source>There is already a class named {name}.</source>
        <translation>已有名为 {name} 的类别。</translation>
    </message>
    <message>
        <source>Choose another name, or merge the two classes in the Classes panel.</source>
        <translation>请使用其他名称，或在“类别”面板中合并这两个类别。</translation>
    </message>
    <message>
        <source>Labels are being imported. They cannot be edited at the moment.</source>
        <translation>正在导入标注，暂时无法编辑。</translation>
    </message>
    <message>
        <source>Wait until the import is finished, or cancel it.</source>
        <translation>请等待导入完成，或取消导入。</translation>
    </message>
    <message>
        <source>There is no run {name} in this project.</source>
        <translation>此项目没有名为 {name} 的训练记录。</translation>
    </message>
    <message>
        <source>Runs are: {known}.</source>
        <translation>现有训练记录：{known}。</translation>
    </message>
    <message>
        <source>The run {name} has no usable model: {why}.</source>
        <translation>训练记录 {name} 没有可用的模型：{why}。</translation>
    </message>
    <message>
        <source>Train again, or choose another run.</source>
        <translation>请重新训练，或选择另一条训练记录。</translation>
    </message>
    <message>
        <source>The run file {path} cannot be read: {why}.</source>
        <translation>无法读取训练记录文件 {path}：{why}。</translation>
    </message>
    <message>
        <source>The other runs are not affected.</source>
        <translation>其他训练记录不受影响。</translation>
    </message>
    <message>
        <source>The run {name} is being trained by another process ({pid} on {host}).</source>
        <translation>另一个进程正在训练 {name}（主机 {host} 上的进程 {pid}）。</translation>
    </message>
    <message>
        <source>Wait until that process has ended, or stop it, then resume the run again.</source>
        <translation>请等待该进程结束，或将其停止，然后再继续训练。</translation>
    </message>
    <message>
        <source>The weights in {path} cannot be used: {why}.</source>
        <translation>无法使用 {path} 中的权重：{why}。</translation>
    </message>
    <message>
        <source>Nothing was executed or changed.</source>
        <translation>没有执行或更改任何内容。</translation>
    </message>
    <message>
        <source>Check the network connection, save the file as {path}, or choose your own weights file.</source>
        <translation>请检查网络连接，或将文件保存为 {path}，或选择自己的权重文件。</translation>
    </message>
    <message>
        <source>{path} cannot be added as a model: {why}.</source>
        <translation>无法将 {path} 作为模型添加：{why}。</translation>
    </message>
    <message>
        <source>{path} cannot be used for click segmentation: {why}.</source>
        <translation>{path} 不能用于点击分割：{why}。</translation>
    </message>
    <message>
        <source>Choose the two ONNX files in Settings &gt; Click model.</source>
        <translation>请在“设置 &gt; 点击分割模型”中选择两个 ONNX 文件。</translation>
    </message>
    <message>
        <source>{path} was changed after it was loaded for click segmentation.</source>
        <translation>{path} 在加载用于点击分割之后被修改。</translation>
    </message>
    <message>
        <source>Click again to load it as it is now.</source>
        <translation>再次点击即可加载修改后的文件。</translation>
    </message>
    <message>
        <source>The click model takes at most {n} points, and a box counts as two.</source>
        <translation>点击分割模型最多接受 {n} 个点，方框算两个。</translation>
    </message>
    <message>
        <source>Press Enter to paint this part, then click the rest.</source>
        <translation>请先按回车涂画这一部分，再点击其余部分。</translation>
    </message>
    <message>
        <source>Please check the images: {why}.</source>
        <translation>请检查图片：{why}。</translation>
    </message>
    <message>
        <source>Correct or remove them before labeling.</source>
        <translation>请在标注之前更正或移除它们。</translation>
    </message>
    <message>
        <source>Nothing was imported, because {n} of the labels found cannot be used, for example {first}.</source>
        <translation>未导入任何内容，因为找到的标注中有 {n} 个无法使用，例如 {first}。</translation>
    </message>
    <message>
        <source>Correct them, or import without the option strict.</source>
        <translation>请更正它们，或不使用 strict 选项导入。</translation>
    </message>
    <message>
        <source>The setting {key} cannot be {value}: {why}.</source>
        <translation>设置 {key} 不能为 {value}：{why}。</translation>
    </message>
    <message>
        <source>The device {device} cannot be used: {why}.</source>
        <translation>无法使用设备 {device}：{why}。</translation>
    </message>
    <message>
        <source>Install it with: {command}</source>
        <translation>安装命令：{command}</translation>
    </message>
    <message>
        <source>There is not enough memory for this.</source>
        <translation>内存不足，无法完成此操作。</translation>
    </message>
    <message>
        <source>Close other programs, or use smaller images.</source>
        <translation>请关闭其他程序，或使用较小的图片。</translation>
    </message>
    <message>
        <source>Unexpected error: {what}.</source>
        <translation>意外错误：{what}。</translation>
    </message>
    <message>
        <source>Details are in the log file.</source>
        <translation>详细信息请见日志文件。</translation>
    </message>
    <message>
        <source>The {what} process failed: {why}.</source>
        <translation>{what}进程失败：{why}。</translation>
    </message>
    <message>
        <source>Details are in {log}.</source>
        <translation>详情见 {log}。</translation>
    </message>
    <message>
        <source>The exported model does not match the trained model ({why}), so the export was rejected.</source>
        <translation>导出的模型与训练得到的模型不一致（{why}），因此未导出。</translation>
    </message>
    <message>
        <source>The report is in {report}.</source>
        <translation>报告见 {report}。</translation>
    </message>
    <message>
        <source>The model is not ready to export: {why}.</source>
        <translation>模型尚不适合导出：{why}。</translation>
    </message>
    <message>
        <source>Label more defects or train longer, or export it anyway.</source>
        <translation>请标注更多缺陷或延长训练时间，或者仍然导出。</translation>
    </message>
    <message>
        <source>{path} already exists.</source>
        <translation>{path} 已存在。</translation>
    </message>
    <message>
        <source>Choose another folder for the export.</source>
        <translation>请为导出选择另一个文件夹。</translation>
    </message>
    <message>
        <source>{path} is neither a run nor an export.</source>
        <translation>{path} 既不是训练记录，也不是导出的模型包。</translation>
    </message>
    <message>
        <source>This export failed its self-test: {why}</source>
        <translation>此导出未通过自检：{why}</translation>
    </message>
    <message>
        <source>Export it again.</source>
        <translation>请重新导出。</translation>
    </message>
    <message>
        <source>The model in {path} cannot be used: {why}</source>
        <translation>{path} 中的模型无法使用：{why}</translation>
    </message>
    <message>
        <source>No images to predict in {path}: {why}.</source>
        <translation>{path} 中没有可预测的图片：{why}。</translation>
    </message>
</context>
<context>
    <name>queue</name>
    <message>
        <source>All images are done.</source>
        <translation>所有图片都已完成。</translation>
    </message>
    <message>
        <source>The model has analyzed {looked} of {asked} unfinished {asked:image|images}.</source>
        <translation>模型已分析 {asked} 张未完成图片中的 {looked} 张。</translation>
    </message>
    <message>
        <source>The model has checked {looked} of {asked} {asked:label|labels}.</source>
        <translation>模型已检查 {asked} 个标注中的 {looked} 个。</translation>
    </message>
    <message>
        <source>There are no labels yet that the model can check.</source>
        <translation>还没有模型可以检查的标注。</translation>
    </message>
    <message>
        <source>Probability of this verdict: {share}</source>
        <translation>此判定的概率：{share}</translation>
    </message>
    <message>
        <source>Mean defect probability of this region: {share}</source>
        <translation>此区域的平均缺陷概率：{share}</translation>
    </message>
    <message>
        <source>Mean probability of this region: {share}</source>
        <translation>此区域的平均概率：{share}</translation>
    </message>
    <message>
        <source>this is a training image</source>
        <translation>此图片是训练图片</translation>
    </message>
    <message>
        <source>this is not a training image</source>
        <translation>此图片不是训练图片</translation>
    </message>
    <message>
        <source>The model contradicts so many labels that the model itself is probably wrong. Train longer first.</source>
        <translation>与模型不一致的标注过多，很可能是模型本身有误。请先延长训练。</translation>
    </message>
    <message>
        <source>Training images are listed last.</source>
        <translation>训练图片列在最后。</translation>
    </message>
    <message>
        <source>No label errors found.</source>
        <translation>未发现标注错误。</translation>
    </message>
    <message>
        <source>No model yet. Images are ordered by diversity; {looked} of {asked} analyzed.</source>
        <translation>还没有模型，按图片差异排序；已分析 {looked} / {asked} 张。</translation>
    </message>
</context>
<context>
    <name>recipe</name>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>质量</translation>
    </message>
    <message>
        <source>Prune</source>
        <translation>剪枝</translation>
    </message>
    <message>
        <source>Encoder</source>
        <translation>编码器</translation>
    </message>
    <message>
        <source>First part of the network: plain convolutions (for verdicts a ResNet), EfficientNet-Lite0 with its pretrained weights, or the ResNet of a UNet.</source>
        <translation>网络的前一部分：普通卷积（用于判定时为 ResNet）、带预训练权重的 EfficientNet-Lite0，或 UNet 中的 ResNet。</translation>
    </message>
    <message>
        <source>Channels</source>
        <translation>通道</translation>
    </message>
    <message>
        <source>Full scale</source>
        <translation>满量程</translation>
    </message>
    <message>
        <source>Darkest value</source>
        <translation>最暗值</translation>
    </message>
    <message>
        <source>Brightest value</source>
        <translation>最亮值</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>Local contrast</source>
        <translation>局部对比度</translation>
    </message>
    <message>
        <source>Stem</source>
        <translation>首层步幅</translation>
    </message>
    <message>
        <source>2 or 4: the first layer reduces the resolution to 1/2 or 1/4.</source>
        <translation>2 或 4：首层将分辨率降为 1/2 或 1/4。</translation>
    </message>
    <message>
        <source>Depth</source>
        <translation>深度</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>宽度</translation>
    </message>
    <message>
        <source>Input, or additional input of a ResNet: the image with a fixed mean and contrast, independent of its exposure.</source>
        <translation>输入（ResNet 则为附加输入）：均值和对比度固定的图片，与曝光无关。</translation>
    </message>
    <message>
        <source>Test-time augmentation (flips)</source>
        <translation>测试时增强（翻转）</translation>
    </message>
    <message>
        <source>Label smoothing</source>
        <translation>标签平滑</translation>
    </message>
    <message>
        <source>Optimization algorithm: AdamW or Muon.</source>
        <translation>优化算法：AdamW 或 Muon。</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Peak value of the learning rate.</source>
        <translation>学习率峰值。</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>权重衰减</translation>
    </message>
    <message>
        <source>Warm-up</source>
        <translation>预热</translation>
    </message>
    <message>
        <source>Gradient clipping</source>
        <translation>梯度裁剪</translation>
    </message>
    <message>
        <source>Gradients with a larger norm are scaled down to this norm.</source>
        <translation>梯度范数超过此值时按比例缩小。</translation>
    </message>
    <message>
        <source>Decay of the moving average of the weights. 0 turns it off.</source>
        <translation>权重滑动平均的衰减系数；0 表示关闭。</translation>
    </message>
    <message>
        <source>Validations</source>
        <translation>验证次数</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>轮数</translation>
    </message>
    <message>
        <source>Train for this number of epochs instead of a fixed time.</source>
        <translation>按轮数训练，不按时长。</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Model replicas that share each batch, one per CPU core.</source>
        <translation>共同处理一个批次的模型副本数，每个占用一个 CPU 核心。</translation>
    </message>
    <message>
        <source>Minutes</source>
        <translation>训练时长（分钟）</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Initial weights</source>
        <translation>初始权重</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>输入与预处理</translation>
    </message>
    <message>
        <source>Network size. Larger networks need more training time.</source>
        <translation>网络大小。网络越大，需要的训练时间越长。</translation>
    </message>
    <message>
        <source>Initial run</source>
        <translation>初始训练记录</translation>
    </message>
    <message>
        <source>Training starts from the weights of that run. Outputs for new classes start untrained.</source>
        <translation>训练从该训练记录的权重开始。新类别的输出未经训练。</translation>
    </message>
    <message>
        <source>Share of the initial run&apos;s channels to remove, for a smaller network.</source>
        <translation>从初始训练记录中去掉的通道比例，用于得到更小的网络。</translation>
    </message>
    <message>
        <source>Pretrained weights</source>
        <translation>预训练权重</translation>
    </message>
    <message>
        <source>Start from the weights of a network that was trained on other images.</source>
        <translation>使用在其他图片上训练过的网络的权重作为初始权重。</translation>
    </message>
    <message>
        <source>1: gray, 3: color.</source>
        <translation>1：灰度，3：彩色。</translation>
    </message>
    <message>
        <source>Largest possible pixel value.</source>
        <translation>像素可能的最大值。</translation>
    </message>
    <message>
        <source>Gray value that is mapped to 0.</source>
        <translation>映射为 0 的灰度值。</translation>
    </message>
    <message>
        <source>Gray value that is mapped to 1.</source>
        <translation>映射为 1 的灰度值。</translation>
    </message>
    <message>
        <source>Subtracted from each channel, so that values are centered at 0.</source>
        <translation>从每个通道中减去，使数值以 0 为中心。</translation>
    </message>
    <message>
        <source>Standard deviation</source>
        <translation>标准差</translation>
    </message>
    <message>
        <source>Divisor of each channel, so that values have unit variance.</source>
        <translation>每个通道除以该值，使方差为 1。</translation>
    </message>
    <message>
        <source>Image scale</source>
        <translation>图片缩放</translation>
    </message>
    <message>
        <source>Factor by which images are resized for the network.</source>
        <translation>图片输入网络前的缩放系数。</translation>
    </message>
    <message>
        <source>Additional input: contrast of each pixel to its surroundings.</source>
        <translation>附加输入：每个像素与周围的对比度。</translation>
    </message>
    <message>
        <source>Widths</source>
        <translation>各层宽度</translation>
    </message>
    <message>
        <source>Channels at each level of the UNet. The number of levels is its depth.</source>
        <translation>UNet 各层的通道数；层数即深度。</translation>
    </message>
    <message>
        <source>Number of layers of the ResNet.</source>
        <translation>ResNet 的层数。</translation>
    </message>
    <message>
        <source>Factor for the channels of every layer of the ResNet.</source>
        <translation>ResNet 各层通道数的系数。</translation>
    </message>
    <message>
        <source>Input size</source>
        <translation>输入尺寸</translation>
    </message>
    <message>
        <source>Side of the square to which images are resized, in pixels.</source>
        <translation>图片缩放后的正方形边长，单位像素。</translation>
    </message>
    <message>
        <source>Standardized input</source>
        <translation>标准化输入</translation>
    </message>
    <message>
        <source>Patch size</source>
        <translation>图块大小</translation>
    </message>
    <message>
        <source>Side of the training patches in pixels.</source>
        <translation>训练图块的边长，单位像素。</translation>
    </message>
    <message>
        <source>Tile overlap</source>
        <translation>分块重叠</translation>
    </message>
    <message>
        <source>Overlap of neighboring tiles in a prediction, in pixels.</source>
        <translation>预测时相邻分块的重叠，单位像素。</translation>
    </message>
    <message>
        <source>Patches with defects</source>
        <translation>含缺陷的图块</translation>
    </message>
    <message>
        <source>Share of patches that are centered on a defect.</source>
        <translation>以缺陷为中心的图块比例。</translation>
    </message>
    <message>
        <source>Predictions are averaged over the image and its mirror image.</source>
        <translation>对原图与镜像图的预测取平均。</translation>
    </message>
    <message>
        <source>Minimum area</source>
        <translation>最小面积</translation>
    </message>
    <message>
        <source>Smaller predicted regions are dropped. In image pixels.</source>
        <translation>更小的预测区域会被滤除。单位为图片像素。</translation>
    </message>
    <message>
        <source>Dice weight</source>
        <translation>Dice 权重</translation>
    </message>
    <message>
        <source>Weight of the Dice loss.</source>
        <translation>Dice 损失的权重。</translation>
    </message>
    <message>
        <source>Cross-entropy weight</source>
        <translation>交叉熵权重</translation>
    </message>
    <message>
        <source>Weight of the cross-entropy loss.</source>
        <translation>交叉熵损失的权重。</translation>
    </message>
    <message>
        <source>Class weight</source>
        <translation>类别权重</translation>
    </message>
    <message>
        <source>Weight of the term that separates the classes, while the defects of all classes are trained together. 0: each class is trained separately.</source>
        <translation>用于区分各类别的损失项的权重；此时所有类别的缺陷一起训练。0：各类别分别训练。</translation>
    </message>
    <message>
        <source>Train further</source>
        <translation>继续训练</translation>
    </message>
    <message>
        <source>Train the whole network after its last layer was fitted to features of the images.</source>
        <translation>在图片特征上拟合最后一层之后，继续训练整个网络。</translation>
    </message>
    <message>
        <source>Prevents overconfident predictions.</source>
        <translation>防止预测概率过高。</translation>
    </message>
    <message>
        <source>Batch size</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Patches or images per training step.</source>
        <translation>每个训练步的图块或图片数。</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Keeps weights small to reduce overfitting.</source>
        <translation>使权重保持较小，减少过拟合。</translation>
    </message>
    <message>
        <source>Fraction of the training during which the learning rate rises. It then falls to 0.</source>
        <translation>学习率上升阶段占训练的比例，之后降至 0。</translation>
    </message>
    <message>
        <source>Weight averaging</source>
        <translation>权重平均</translation>
    </message>
    <message>
        <source>Number of validations during the training.</source>
        <translation>训练期间的验证次数。</translation>
    </message>
    <message>
        <source>The same seed gives the same patches and initial weights.</source>
        <translation>相同的种子产生相同的图块和初始权重。</translation>
    </message>
    <message>
        <source>Augmentation</source>
        <translation>数据增强</translation>
    </message>
    <message>
        <source>Random changes of the training patches.</source>
        <translation>对训练图块的随机变化。</translation>
    </message>
    <message>
        <source>16-bit numbers are faster on GPUs. CPUs compute in 32 bits.</source>
        <translation>16 位数在 GPU 上更快，CPU 以 32 位计算。</translation>
    </message>
    <message>
        <source>Number of threads that prepare patches during training.</source>
        <translation>训练时准备图块的线程数。</translation>
    </message>
    <message>
        <source>Profiling</source>
        <translation>性能分析</translation>
    </message>
    <message>
        <source>Measure the time of each part of a training step.</source>
        <translation>测量训练步各部分的用时。</translation>
    </message>
    <message>
        <source>Training time.</source>
        <translation>训练时间。</translation>
    </message>
    <message>
        <source>Device used for training.</source>
        <translation>用于训练的设备。</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>Optimization</source>
        <translation>优化</translation>
    </message>
    <message>
        <source>Hardware</source>
        <translation>硬件</translation>
    </message>
    <message>
        <source>Gray values</source>
        <translation>灰度值</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>ImageNet (of a ResNet: downloaded once)</source>
        <translation>ImageNet（ResNet 的权重只下载一次）</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
</context>
<context>
    <name>review</name>
    <message>
        <source>{hits} of {total}</source>
        <translation>{hits} / {total}</translation>
    </message>
    <message>
        <source>by class</source>
        <translation>因类别而异</translation>
    </message>
    <message>
        <source>{low}–{high}%</source>
        <translation>{low}–{high}%</translation>
    </message>
</context>
<context>
    <name>scale</name>
    <message>
        <source>Pixel scale</source>
        <translation>像素尺寸</translation>
    </message>
    <message>
        <source>True length of the measured line ({length}) in µm:</source>
        <translation>所测线段（{length}）的实际长度（µm）：</translation>
    </message>
    <message>
        <source>µm per pixel. Press {key} to measure a line of known length first.</source>
        <translation>每像素 µm。请先按 {key} 测量一条已知长度的线。</translation>
    </message>
</context>
<context>
    <name>search</name>
    <message>
        <source>Type part of the name, or terms. An image must match all of them. Examples: {examples}</source>
        <translation>输入名称的一部分或搜索条件，图片须满足全部条件。示例：{examples}</translation>
    </message>
    <message>
        <source>Put a minus before a term to negate it. A comma means “or”.</source>
        <translation>条件前加减号表示排除。逗号表示“或”。</translation>
    </message>
    <message>
        <source>Unknown search term {term}. Available: {known}.</source>
        <translation>未知的搜索条件 {term}。可用条件：{known}。</translation>
    </message>
    <message>
        <source>{term}: unknown value “{value}”. Available: {known}.</source>
        <translation>{term}：未知的值“{value}”。可用值：{known}。</translation>
    </message>
    <message>
        <source>{term}: “{value}” is not a number. Examples: {examples}.</source>
        <translation>{term}：“{value}”不是数字。示例：{examples}。</translation>
    </message>
    <message>
        <source>{term}: “{value}” is not a date. Examples: 2026-11-21, 2026-11, &gt;2026.</source>
        <translation>{term}：“{value}”不是日期。示例：2026-11-21、2026-11、&gt;2026。</translation>
    </message>
    <message>
        <source>{term}: a value is missing after the colon.</source>
        <translation>{term}：冒号后缺少值。</translation>
    </message>
</context>
<context>
    <name>sentences</name>
    <message>
        <source>Each batch is now computed in {n} parts, with the same result.</source>
        <translation>现在每个批次分 {n} 份计算，结果相同。</translation>
    </message>
    <message>
        <source>Its label before is used on.</source>
        <translation>继续使用之前的标注。</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>this version trains on one card at a time; choose one of them, such as gpu:0</source>
        <translation>本版本一次只能用一个 GPU 训练；请选择其中一个，例如 gpu:0</translation>
    </message>
    <message>
        <source>it holds no state</source>
        <translation>其中没有训练状态</translation>
    </message>
    <message>
        <source>{name} is missing or damaged</source>
        <translation>{name} 缺失或已损坏</translation>
    </message>
    <message>
        <source>All labeled images belong to the same group, so there are no validation images and no metrics.</source>
        <translation>所有已标注图片属于同一分组，因此没有验证图片，也没有指标。</translation>
    </message>
    <message>
        <source>All {few} images with defects are used for training, so there are no metrics. From {n} such images on, some are used for validation.</source>
        <translation>全部 {few} 张有缺陷的图片都用于训练，因此没有指标。达到 {n} 张时，会将一部分用于验证。</translation>
    </message>
    <message>
        <source>All {few} images are used for training, so there are no metrics. From {n} images on, some are used for validation.</source>
        <translation>全部 {few} 张图片都用于训练，因此没有指标。达到 {n} 张时，会将一部分用于验证。</translation>
    </message>
    <message>
        <source>The initial run was trained on images of every group, so there are no validation images and no metrics.</source>
        <translation>初始训练记录已使用所有分组的图片训练，因此没有验证图片，也没有指标。</translation>
    </message>
    <message>
        <source>The initial model was trained on {n} of the validation/test images, so the metrics are too optimistic.</source>
        <translation>初始模型曾用 {n} 张验证/测试图片训练，因此指标偏乐观。</translation>
    </message>
    <message>
        <source>Only {n} validation/test {n:image has|images have} defects, so the metrics are rough.</source>
        <translation>只有 {n} 张验证/测试图片有缺陷，因此指标较粗略。</translation>
    </message>
    <message>
        <source>There {n:is|are} only {n} validation/test {n:image|images}, so the metrics are rough.</source>
        <translation>只有 {n} 张验证/测试图片，因此指标较粗略。</translation>
    </message>
    <message>
        <source>Changed manually.</source>
        <translation>手动修改。</translation>
    </message>
    <message>
        <source>One thread per CPU core prepares patches, up to four.</source>
        <translation>每个 CPU 核心一个线程准备图块，最多四个。</translation>
    </message>
    <message>
        <source>Measured on {n} training {n:image|images}.</source>
        <translation>在 {n} 张训练图片上测得。</translation>
    </message>
    <message>
        <source>The images are in color.</source>
        <translation>图片为彩色。</translation>
    </message>
    <message>
        <source>The images are gray.</source>
        <translation>图片为灰度。</translation>
    </message>
    <message>
        <source>The largest value of the images&apos; number format.</source>
        <translation>图片数值格式的最大值。</translation>
    </message>
    <message>
        <source>Line directions in the images agree by {n}: {why}.</source>
        <translation>图片中线条方向的一致程度为 {n}：{why}。</translation>
    </message>
    <message>
        <source>The initial weights have the full width.</source>
        <translation>初始权重为完整宽度。</translation>
    </message>
    <message>
        <source>Not used: the encoder {name} has its own value.</source>
        <translation>未使用：编码器 {name} 有固定值。</translation>
    </message>
    <message>
        <source>Deep networks train steadily at this learning rate.</source>
        <translation>深层网络在此学习率下训练稳定。</translation>
    </message>
    <message>
        <source>A GPU is fast enough for the full resolution.</source>
        <translation>GPU 足以处理完整分辨率。</translation>
    </message>
    <message>
        <source>Wide networks train steadily at this learning rate.</source>
        <translation>宽网络在此学习率下训练稳定。</translation>
    </message>
    <message>
        <source>A stem that reduces the resolution is several times faster.</source>
        <translation>首层降低分辨率可快数倍。</translation>
    </message>
    <message>
        <source>80% of the defects are thicker than {n} pixels.</source>
        <translation>80% 的缺陷粗细超过 {n} 像素。</translation>
    </message>
    <message>
        <source>The network size for this quality on this kind of device.</source>
        <translation>该质量在此类设备上对应的网络大小。</translation>
    </message>
    <message>
        <source>The longest image side is {n} pixels; patches include the surroundings of defects.</source>
        <translation>图片最长边为 {n} 像素；图块包含缺陷的周围区域。</translation>
    </message>
    <message>
        <source>This overlap of tiles is enough to avoid visible seams in large images.</source>
        <translation>此分块重叠足以避免大图中出现可见接缝。</translation>
    </message>
    <message>
        <source>The receptive field is {n} pixels in each direction; with this overlap, tiles give the same result as the whole image.</source>
        <translation>每个方向的感受野为 {n} 像素；按此重叠，分块预测与整图预测结果相同。</translation>
    </message>
    <message>
        <source>Averaging the predictions of the image and its mirror image reduces errors and doubles the prediction time.</source>
        <translation>对原图与镜像图的预测取平均可减少误差，预测时间加倍。</translation>
    </message>
    <message>
        <source>Quality Fast uses one prediction per image.</source>
        <translation>质量“快速”对每张图片只预测一次。</translation>
    </message>
    <message>
        <source>The median defect covers {n} of its image.</source>
        <translation>缺陷面积占图片的中位数为 {n}。</translation>
    </message>
    <message>
        <source>Small batches allow many steps in the given time.</source>
        <translation>小批次可在限定时间内完成更多训练步。</translation>
    </message>
    <message>
        <source>The CPU cores share every batch, four images or more for each; more than eight cores are of little use.</source>
        <translation>各 CPU 核心分担每个批次，每个核心至少四张图片；超过八个核心收益很小。</translation>
    </message>
    <message>
        <source>A GPU is fast enough for this depth.</source>
        <translation>GPU 足以处理此深度。</translation>
    </message>
    <message>
        <source>The median longer side of the images is {n} pixels.</source>
        <translation>图片长边的中位数为 {n} 像素。</translation>
    </message>
    <message>
        <source>In limited time, more steps are better than a deeper network.</source>
        <translation>时间有限时，更多训练步优于更深的网络。</translation>
    </message>
    <message>
        <source>The learning-rate schedule follows the elapsed time, so training ends on time, here after about {n} {n:step|steps}.</source>
        <translation>学习率按已用时间调整，训练会按时结束，此处约 {n} 步。</translation>
    </message>
    <message>
        <source>One validation every {n} s; together they take at most 10% of the time.</source>
        <translation>每 {n} 秒验证一次；合计最多占用 10% 的时间。</translation>
    </message>
    <message>
        <source>Mixed precision with 16-bit numbers, if it is faster on this GPU.</source>
        <translation>若此 GPU 因此更快，则使用 16 位混合精度。</translation>
    </message>
    <message>
        <source>CPUs train in 32 bits.</source>
        <translation>CPU 以 32 位训练。</translation>
    </message>
    <message>
        <source>Narrow layers are fast on a CPU.</source>
        <translation>窄层在 CPU 上速度快。</translation>
    </message>
    <message>
        <source>A larger network reaches only about {n} {n:step|steps} in this time on this computer.</source>
        <translation>在本机上，更大的网络在限定时间内只能完成约 {n} 步。</translation>
    </message>
    <message>
        <source>With only about {n} {n:step|steps}, AdamW gives better results.</source>
        <translation>只有约 {n} 步时，AdamW 的结果更好。</translation>
    </message>
    <message>
        <source>Same as in the initial run.</source>
        <translation>与初始训练记录相同。</translation>
    </message>
    <message>
        <source>Half the learning rate of the initial run, because its weights are already trained.</source>
        <translation>初始训练记录学习率的一半，因为其权重已经过训练。</translation>
    </message>
    <message>
        <source>{widths} in the initial run, reduced by {n} of the channels.</source>
        <translation>初始训练记录为 {widths}，减少了 {n} 的通道。</translation>
    </message>
    <message>
        <source>Small enough for many passes on a CPU.</source>
        <translation>足够小，可在 CPU 上多次遍历。</translation>
    </message>
    <message>
        <source>it requires compute capability {need}, but this GPU has {have}</source>
        <translation>需要计算能力 {need}，而此 GPU 为 {have}</translation>
    </message>
    <message>
        <source>CPUs train in 32 bits: Paddle has no mixed precision on CPUs.</source>
        <translation>CPU 以 32 位训练：Paddle 在 CPU 上没有混合精度。</translation>
    </message>
    <message>
        <source>CPUs train in 32 bits: Paddle has no mixed precision on CPUs. {asked} was requested.</source>
        <translation>CPU 以 32 位训练：Paddle 在 CPU 上没有混合精度。所要求的是 {asked}。</translation>
    </message>
    <message>
        <source>This GPU computes with 16-bit numbers several times faster.</source>
        <translation>此 GPU 的 16 位运算要快数倍。</translation>
    </message>
    <message>
        <source>This GPU is too old to benefit from 16-bit numbers.</source>
        <translation>此 GPU 较旧，16 位运算没有收益。</translation>
    </message>
    <message>
        <source>must be one of {names}</source>
        <translation>必须为 {names} 之一</translation>
    </message>
    <message>
        <source>must be a number</source>
        <translation>必须为数字</translation>
    </message>
    <message>
        <source>must be a finite number</source>
        <translation>必须为有限的数字</translation>
    </message>
    <message>
        <source>must be above {n}</source>
        <translation>必须大于 {n}</translation>
    </message>
    <message>
        <source>must be at least {n}</source>
        <translation>必须不小于 {n}</translation>
    </message>
    <message>
        <source>must be below {n}</source>
        <translation>必须小于 {n}</translation>
    </message>
    <message>
        <source>must be at most {n}</source>
        <translation>必须不大于 {n}</translation>
    </message>
    <message>
        <source>must be true or false</source>
        <translation>必须为 true 或 false</translation>
    </message>
    <message>
        <source>must be a list</source>
        <translation>必须为列表</translation>
    </message>
    <message>
        <source>must be text</source>
        <translation>必须为文本</translation>
    </message>
    <message>
        <source>a UNet with the encoder {name} has fixed widths and a fixed stem; set width instead</source>
        <translation>编码器为 {name} 的 UNet 的各层宽度和首层是固定的；请改为设置 width</translation>
    </message>
    <message>
        <source>mean and std must have one number for each of the {n} channels</source>
        <translation>mean 和 std 对 {n} 个通道必须各有一个数</translation>
    </message>
    <message>
        <source>there is no setting {name}</source>
        <translation>没有设置 {name}</translation>
    </message>
    <message>
        <source>an initial run is required (--from RUN)</source>
        <translation>需要初始训练记录（--from RUN）</translation>
    </message>
    <message>
        <source>only a UNet can be pruned; for a smaller ResNet, set width</source>
        <translation>只有 UNet 可以剪枝；要缩小 ResNet，请设置 width</translation>
    </message>
    <message>
        <source>only a UNet with the plain encoder can be pruned; for a smaller ResNet encoder, set width</source>
        <translation>只有普通编码器的 UNet 可以剪枝；要缩小 ResNet 编码器，请设置 width</translation>
    </message>
    <message>
        <source>the widths are already changed manually</source>
        <translation>各层宽度已手动修改</translation>
    </message>
    <message>
        <source>the share is smaller than one block of channels at every level</source>
        <translation>此比例小于各层的一个通道块</translation>
    </message>
    <message>
        <source>{key} must be {value}, as in the initial run</source>
        <translation>{key} 必须为 {value}，与初始训练记录相同</translation>
    </message>
    <message>
        <source>{run} does not have {n} of the {m} classes of this run.</source>
        <translation>{run} 没有此训练记录 {m} 个类别中的 {n} 个。</translation>
    </message>
    <message>
        <source>Their part of the last layer starts untrained.</source>
        <translation>这些类别在最后一层的部分从未训练状态开始。</translation>
    </message>
    <message>
        <source>the run trained a {before}, not a {now}</source>
        <translation>该训练记录训练的是 {before}，不是 {now}</translation>
    </message>
    <message>
        <source>the network of the run is different</source>
        <translation>该训练记录的网络不同</translation>
    </message>
    <message>
        <source>The model detects no defects on the validation images, although there are some.</source>
        <translation>验证图片上有缺陷，但模型一处也没有检出。</translation>
    </message>
    <message>
        <source>Training continues. If this does not change, train longer or label more defects.</source>
        <translation>训练继续。如果没有改善，请延长训练或标注更多缺陷。</translation>
    </message>
    <message>
        <source>Train longer or label more defects.</source>
        <translation>请延长训练或标注更多缺陷。</translation>
    </message>
    <message>
        <source>The model is evaluated with Paddle instead.</source>
        <translation>改用 Paddle 评估模型。</translation>
    </message>
    <message>
        <source>The final metrics are missing. The model is kept.</source>
        <translation>缺少最终指标。模型已保留。</translation>
    </message>
    <message>
        <source>The metrics refer to these images.</source>
        <translation>指标只针对这些图片。</translation>
    </message>
    <message>
        <source>{device} ran out of memory.</source>
        <translation>{device} 的内存（显存）不足。</translation>
    </message>
    <message>
        <source>The patch size is reduced to {n} pixels. Patches show less of the surroundings of defects.</source>
        <translation>图块大小已减小到 {n} 像素，所含缺陷周围区域变少。</translation>
    </message>
    <message>
        <source>Training diverged at step {n}.</source>
        <translation>训练在第 {n} 步发散。</translation>
    </message>
    <message>
        <source>Training was rolled back to step {n}, and the learning rate was halved.</source>
        <translation>训练已回退到第 {n} 步，学习率减半。</translation>
    </message>
    <message>
        <source>The image is skipped. Training continues.</source>
        <translation>已跳过该图片，训练继续。</translation>
    </message>
    <message>
        <source>{n} more labeled {n:image|images} cannot be used.</source>
        <translation>另有 {n} 张已标注图片无法使用。</translation>
    </message>
    <message>
        <source>The images are skipped. Training continues.</source>
        <translation>已跳过这些图片，训练继续。</translation>
    </message>
    <message>
        <source>Training continues. Saving is retried in a minute.</source>
        <translation>训练继续，一分钟后重试保存。</translation>
    </message>
    <message>
        <source>Training continues. The best weights so far are kept.</source>
        <translation>训练继续，已保留目前最佳的权重。</translation>
    </message>
    <message>
        <source>The training settings were changed after the run had started.</source>
        <translation>训练设置在训练开始后被修改。</translation>
    </message>
    <message>
        <source>Training continues with the new settings.</source>
        <translation>训练按新的设置继续。</translation>
    </message>
    <message>
        <source>Only {n} of {m} weights of {run} fit this network.</source>
        <translation>{run} 的 {m} 个权重中只有 {n} 个适合此网络。</translation>
    </message>
    <message>
        <source>The other weights start untrained.</source>
        <translation>其他权重从未训练状态开始。</translation>
    </message>
    <message>
        <source>The model could not be converted for prediction: {why}</source>
        <translation>无法将模型转换为可预测的形式：{why}</translation>
    </message>
    <message>
        <source>Training continues. The weights are kept.</source>
        <translation>训练继续，权重已保留。</translation>
    </message>
    <message>
        <source>the memory is too small even for one small patch or image; choose a smaller network</source>
        <translation>内存不足以容纳一个小图块或一张小图片；请选择更小的网络</translation>
    </message>
    <message>
        <source>training diverged {n} {n:time|times}, although the learning rate was halved each time</source>
        <translation>每次都将学习率减半，训练仍发散了 {n} 次</translation>
    </message>
    <message>
        <source>The effect of pruning is not measured.</source>
        <translation>未测量剪枝的影响。</translation>
    </message>
    <message>
        <source>The verdict is not one of those of this run.</source>
        <translation>此判定不在此训练记录的判定之中。</translation>
    </message>
    <message>
        <source>The image is assigned to validation or test.</source>
        <translation>该图片已指定用于验证或测试。</translation>
    </message>
    <message>
        <source>The image belongs to the group of a validation or test image.</source>
        <translation>该图片与某张验证或测试图片属于同一分组。</translation>
    </message>
    <message>
        <source>The previous label is used.</source>
        <translation>使用之前的标注。</translation>
    </message>
    <message>
        <source>The label is not used.</source>
        <translation>不使用该标注。</translation>
    </message>
    <message>
        <source>{n} {n:label was|labels were} changed after step {step}, from which training continues.</source>
        <translation>在训练继续的起点（第 {step} 步）之后，有 {n} 个标注被修改。</translation>
    </message>
    <message>
        <source>The current labels are used. Lost steps are not repeated exactly.</source>
        <translation>使用当前标注。丢失的训练步不会完全重现。</translation>
    </message>
    <message>
        <source>A step takes {ms} ms, {share} of it waiting for images; {shares}.</source>
        <translation>每步 {ms} ms，其中 {share} 在等待图片；{shares}。</translation>
    </message>
    <message>
        <source>Evaluating validation/test images</source>
        <translation>正在评估验证/测试图片</translation>
    </message>
    <message>
        <source>Converting the model</source>
        <translation>正在转换模型</translation>
    </message>
    <message>
        <source>Measuring value ranges for INT8</source>
        <translation>正在测量 INT8 的取值范围</translation>
    </message>
    <message>
        <source>Evaluating reduced precision on labeled images</source>
        <translation>正在已标注图片上评估低精度</translation>
    </message>
    <message>
        <source>Downloading weights (MB)</source>
        <translation>正在下载权重（MB）</translation>
    </message>
    <message>
        <source>Comparing with the model before pruning</source>
        <translation>正在与剪枝前的模型比较</translation>
    </message>
    <message>
        <source>Waiting for another process that still trains this run</source>
        <translation>正在等待仍在训练此记录的另一进程</translation>
    </message>
    <message>
        <source>Preparing the model</source>
        <translation>正在准备模型</translation>
    </message>
    <message>
        <source>Comparing with the run</source>
        <translation>正在与训练记录比较</translation>
    </message>
    <message>
        <source>Running the self-test</source>
        <translation>正在自检</translation>
    </message>
    <message>
        <source>the process was interrupted from the keyboard</source>
        <translation>进程被键盘中断</translation>
    </message>
    <message>
        <source>a required library is missing</source>
        <translation>缺少所需的库</translation>
    </message>
    <message>
        <source>the process crashed (access violation)</source>
        <translation>进程崩溃（访问冲突）</translation>
    </message>
    <message>
        <source>the process crashed (stack overrun)</source>
        <translation>进程崩溃（栈溢出）</translation>
    </message>
    <message>
        <source>the computer ran out of memory</source>
        <translation>计算机内存不足</translation>
    </message>
    <message>
        <source>the process ran out of memory</source>
        <translation>进程内存不足</translation>
    </message>
    <message>
        <source>the process was killed by signal 9 (SIGKILL), usually because the computer ran out of memory</source>
        <translation>进程被信号 9（SIGKILL）终止，通常是因为计算机内存不足</translation>
    </message>
    <message>
        <source>the process crashed with signal {n} ({name})</source>
        <translation>进程因信号 {n}（{name}）崩溃</translation>
    </message>
    <message>
        <source>the process was ended by signal {n} ({name})</source>
        <translation>进程被信号 {n}（{name}）终止</translation>
    </message>
    <message>
        <source>the process ended without a report (exit code 0)</source>
        <translation>进程未报告原因即结束（退出代码 0）</translation>
    </message>
    <message>
        <source>the process no longer exists and left no report</source>
        <translation>进程已不存在，且未报告原因</translation>
    </message>
    <message>
        <source>the process ended with exit code {n}</source>
        <translation>进程以退出代码 {n} 结束</translation>
    </message>
    <message>
        <source>{why}; last output: {words}</source>
        <translation>{why}；最后的输出：{words}</translation>
    </message>
    <message>
        <source>the installed PaddlePaddle is the CPU version</source>
        <translation>安装的 PaddlePaddle 是 CPU 版本</translation>
    </message>
    <message>
        <source>no NVIDIA GPU is available (is the driver installed?)</source>
        <translation>没有可用的 NVIDIA GPU（是否已安装驱动？）</translation>
    </message>
    <message>
        <source>there are {n} GPUs, numbered from 0, and no GPU {m}</source>
        <translation>共有 {n} 个 GPU，从 0 开始编号，没有 GPU {m}</translation>
    </message>
    <message>
        <source>devices are auto, cpu, gpu, gpu:0, gpu:0,1 for several GPUs, cpu:2 for several processes</source>
        <translation>设备名为 auto、cpu、gpu、gpu:0，多个 GPU 为 gpu:0,1，多个进程为 cpu:2</translation>
    </message>
    <message>
        <source>a GPU is named twice</source>
        <translation>同一 GPU 被指定了两次</translation>
    </message>
    <message>
        <source>process {n}: {why}</source>
        <translation>进程 {n}：{why}</translation>
    </message>
    <message>
        <source>the connection to another of the {n} processes was lost ({why})</source>
        <translation>与 {n} 个进程中另一进程的连接中断（{why}）</translation>
    </message>
    <message>
        <source>the {n} processes could not connect ({why})</source>
        <translation>{n} 个进程无法连接（{why}）</translation>
    </message>
    <message>
        <source>the batch is too small for {n} processes; choose {m} or more</source>
        <translation>批大小对 {n} 个进程来说太小；请设为 {m} 或更大</translation>
    </message>
    <message>
        <source>process {n} of {m} failed: {why}</source>
        <translation>{m} 个进程中的第 {n} 个失败：{why}</translation>
    </message>
    <message>
        <source>process {n} of {m} ended without a report, usually because it was killed or the computer ran out of memory</source>
        <translation>{m} 个进程中的第 {n} 个未报告原因即结束，通常是因为被终止或计算机内存不足</translation>
    </message>
    <message>
        <source>training was stopped before the first checkpoint</source>
        <translation>训练在第一个检查点之前被停止</translation>
    </message>
    <message>
        <source>there is no checkpoint from which training could continue</source>
        <translation>没有可供继续训练的检查点</translation>
    </message>
    <message>
        <source>the weights are missing</source>
        <translation>缺少权重</translation>
    </message>
    <message>
        <source>Measured with this export on {n} labeled {n:image|images}.</source>
        <translation>用此模型包在 {n} 张已标注的图片上测得。</translation>
    </message>
    <message>
        <source>{name} does not fit this network</source>
        <translation>{name} 与该网络不符</translation>
    </message>
    <message>
        <source>{name} is missing or does not fit this network</source>
        <translation>{name} 缺失，或与该网络不符</translation>
    </message>
    <message>
        <source>write it as key=value</source>
        <translation>请写成 键=值</translation>
    </message>
    <message>
        <source>this kind of TIFF needs the package tifffile, which is not installed (pip install tifffile)</source>
        <translation>此类 TIFF 需要 tifffile 软件包，但尚未安装（pip install tifffile）</translation>
    </message>
    <message>
        <source>it was stopped</source>
        <translation>已被停止</translation>
    </message>
    <message>
        <source>there is no such file</source>
        <translation>没有这个文件</translation>
    </message>
    <message>
        <source>there is not enough memory for it</source>
        <translation>内存不够</translation>
    </message>
    <message>
        <source>the file cannot be opened ({why})</source>
        <translation>无法打开文件（{why}）</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>文件是空的</translation>
    </message>
    <message>
        <source>the file is incomplete: {why}</source>
        <translation>文件不完整：{why}</translation>
    </message>
    <message>
        <source>the end of the {kind} data is missing</source>
        <translation>缺少 {kind} 数据的结尾</translation>
    </message>
    <message>
        <source>{n} bytes are missing</source>
        <translation>缺少 {n} 字节</translation>
    </message>
    <message>
        <source>the {kind} data are damaged or of an unknown variant</source>
        <translation>{kind} 数据已损坏或属于未知变体</translation>
    </message>
    <message>
        <source>the TIFF data are damaged or of an unknown variant ({why})</source>
        <translation>TIFF 数据已损坏或属于未知变体（{why}）</translation>
    </message>
    <message>
        <source>No space left on device</source>
        <translation>磁盘空间不足</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>没有权限</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>文件系统只读</translation>
    </message>
    <message>
        <source>Writing the model card</source>
        <translation>正在写模型卡</translation>
    </message>
    <message>
        <source>Rounded up from {asked}, so that each of the {n} processes computes equally many images.</source>
        <translation>由 {asked} 向上取整，使 {n} 个进程各计算相同数量的图片。</translation>
    </message>
    <message>
        <source>Measured on this GPU: a step takes {ms} ms and uses {share} of the memory.</source>
        <translation>在此 GPU 上测得：每个训练步用时 {ms} 毫秒，占用 {share} 的显存。</translation>
    </message>
    <message>
        <source>A fifth of the labeled defects are thinner than {n} pixels at this size. For such defects, train a UNet on the masks and choose a verdict rule: these verdicts are usually more accurate.</source>
        <translation>在此尺寸下，五分之一的已标注缺陷细于 {n} 像素。对于这样的缺陷，请用掩膜训练 UNet，并选择判定规则：这样的判定通常更准确。</translation>
    </message>
    <message>
        <source>The images are reduced by a factor of {n}, so defects thinner than {m} pixels are hardly visible. For such defects, label masks, train a UNet and choose a verdict rule.</source>
        <translation>图片缩小到原来的 1/{n}，细于 {m} 像素的缺陷几乎不可见。对于这样的缺陷，请标注掩膜，训练 UNet，并选择判定规则。</translation>
    </message>
    <message>
        <source>Brightness or contrast alone separates two verdicts (AUC {n}), so an input without them is added.</source>
        <translation>仅凭亮度或对比度就能区分两个判定（AUC {n}），因此增加去除这两者影响的输入。</translation>
    </message>
    <message>
        <source>Brightness and contrast alone do not separate the verdicts (AUC {n}).</source>
        <translation>仅凭亮度和对比度无法区分各个判定（AUC {n}）。</translation>
    </message>
    <message>
        <source>This GPU has no fast 16-bit arithmetic.</source>
        <translation>该 GPU 没有快速的 16 位运算。</translation>
    </message>
    <message>
        <source>In 16 bits this GPU does not compute the same as in 32 bits.</source>
        <translation>该 GPU 的 16 位计算结果与 32 位不一致。</translation>
    </message>
    <message>
        <source>Training in 16 bits diverged repeatedly.</source>
        <translation>16 位训练多次发散。</translation>
    </message>
    <message>
        <source>Training continues in 32 bits.</source>
        <translation>训练改用 32 位继续。</translation>
    </message>
    <message>
        <source>The settings were planned for a GPU, but training runs on the CPU.</source>
        <translation>训练设置是为 GPU 制定的，但训练在 CPU 上进行。</translation>
    </message>
    <message>
        <source>Size and batch were planned again for the CPU.</source>
        <translation>已为 CPU 重新确定网络大小和批大小。</translation>
    </message>
    <message>
        <source>Steps will be very slow. Start a new run for settings that suit the CPU.</source>
        <translation>每个训练步会非常慢。请新建一次训练，以使用适合 CPU 的设置。</translation>
    </message>
    <message>
        <source>The GPU is not used: {why}.</source>
        <translation>未使用 GPU：{why}。</translation>
    </message>
    <message>
        <source>Training runs on the CPU.</source>
        <translation>训练在 CPU 上进行。</translation>
    </message>
    <message>
        <source>Images are predicted in tiles of {n} pixels from now on.</source>
        <translation>从现在起以 {n} 像素的分块预测图片。</translation>
    </message>
    <message>
        <source>the network could not be evaluated on the validation images ({why})</source>
        <translation>无法在验证图片上评估网络（{why}）</translation>
    </message>
    <message>
        <source>Creating the self-contained model</source>
        <translation>正在创建独立模型</translation>
    </message>
    <message>
        <source>the driver of the NVIDIA GPU is too old for the installed PaddlePaddle</source>
        <translation>NVIDIA GPU 的驱动程序对已安装的 PaddlePaddle 来说过旧</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed</source>
        <translation>未安装 NVIDIA 驱动程序</translation>
    </message>
    <message>
        <source>the package nvidia-ml-py is not installed</source>
        <translation>未安装软件包 nvidia-ml-py</translation>
    </message>
    <message>
        <source>the NVIDIA driver is installed but reports no GPU</source>
        <translation>已安装 NVIDIA 驱动程序，但未检测到 GPU</translation>
    </message>
    <message>
        <source>the NVIDIA driver does not respond ({why})</source>
        <translation>NVIDIA 驱动程序没有响应（{why}）</translation>
    </message>
    <message>
        <source>PaddlePaddle cannot use the GPU ({why})</source>
        <translation>PaddlePaddle 无法使用该 GPU（{why}）</translation>
    </message>
    <message>
        <source>training on several GPUs is not possible on Windows, where PaddlePaddle has no NCCL</source>
        <translation>Windows 上的 PaddlePaddle 没有 NCCL，因此不能用多个 GPU 训练</translation>
    </message>
    <message>
        <source>the package {name} is not installed</source>
        <translation>未安装软件包 {name}</translation>
    </message>
    <message>
        <source>it holds no ONNX network</source>
        <translation>其中没有 ONNX 网络</translation>
    </message>
    <message>
        <source>it cannot be read ({why})</source>
        <translation>无法读取（{why}）</translation>
    </message>
    <message>
        <source>the ONNX network is damaged ({why})</source>
        <translation>ONNX 网络已损坏（{why}）</translation>
    </message>
    <message>
        <source>There are no metrics for {names}, because a class on fewer than {n} parts is used for training only.</source>
        <translation>没有 {names} 的指标，因为出现在不足 {n} 个零件上的类别只用于训练。</translation>
    </message>
    <message>
        <source>The pretrained encoder has three inputs; gray values are repeated.</source>
        <translation>预训练编码器有三个输入；灰度值会重复使用。</translation>
    </message>
    <message>
        <source>The values of the images as they are.</source>
        <translation>直接使用图片的数值。</translation>
    </message>
    <message>
        <source>The larger of the two scales that are compared on parts left out.</source>
        <translation>在留出的零件上比较的两个缩放比例中较大的一个。</translation>
    </message>
    <message>
        <source>The program contains weights of this encoder that were trained on ImageNet.</source>
        <translation>程序自带该编码器在 ImageNet 上训练的权重。</translation>
    </message>
    <message>
        <source>The pretrained encoder computes contrasts itself.</source>
        <translation>预训练编码器自己计算对比度。</translation>
    </message>
    <message>
        <source>Its features were learned from ImageNet. A last layer fitted to them before the training needs few images.</source>
        <translation>其特征学自 ImageNet。训练前在这些特征上拟合最后一层，只需少量图片。</translation>
    </message>
    <message>
        <source>Features do not depend on the brightness and contrast of an image, which are additional inputs of the last layer.</source>
        <translation>特征与图片的亮度和对比度无关；亮度和对比度是最后一层的附加输入。</translation>
    </message>
    <message>
        <source>Only about {n} further {n:step|steps} fit into this time on this computer. So few do not improve the fitted network, so the training ends after the fit.</source>
        <translation>在这台计算机上，这段时间只够再训练约 {n} 步。这么少的步数不会改进拟合的网络，因此训练在拟合后结束。</translation>
    </message>
    <message>
        <source>About {n} further {n:step|steps} fit into this time on this computer.</source>
        <translation>在这台计算机上，这段时间够再训练约 {n} 步。</translation>
    </message>
    <message>
        <source>Small details need a large input. The features of each image are computed once for the fit.</source>
        <translation>细小的细节需要较大的输入。拟合时每张图片的特征只计算一次。</translation>
    </message>
    <message>
        <source>Most images contain a single class, so the defects of all classes are trained together and an additional loss term separates them.</source>
        <translation>大多数图片只含一个类别，因此所有类别的缺陷一起训练，再由附加的损失项区分。</translation>
    </message>
    <message>
        <source>The computer slept for {n} {n:minute|minutes}.</source>
        <translation>计算机休眠了 {n} 分钟。</translation>
    </message>
    <message>
        <source>This time is not counted.</source>
        <translation>这段时间不计入。</translation>
    </message>
    <message>
        <source>must be a uint8 array of shape (H, W)</source>
        <translation>必须是形状为 (H, W) 的 uint8 数组</translation>
    </message>
    <message>
        <source>a model for verdicts has the encoder plain, a ResNet, or lite0</source>
        <translation>用于判定的模型，编码器只能是 plain（即 ResNet）或 lite0</translation>
    </message>
    <message>
        <source>it belongs to the encoder plain, not to {name}</source>
        <translation>该设置属于编码器 plain，不属于 {name}</translation>
    </message>
    <message>
        <source>must be a multiple of {n} with the encoder lite0</source>
        <translation>使用编码器 lite0 时必须是 {n} 的倍数</translation>
    </message>
    <message>
        <source>it marks {n} regions on one image ({name})</source>
        <translation>它在一张图片（{name}）上标记了 {n} 个区域</translation>
    </message>
    <message>
        <source>The model is not ready to export: {why}.</source>
        <translation>模型尚不适合导出：{why}。</translation>
    </message>
    <message>
        <source>It is exported nevertheless.</source>
        <translation>仍将导出。</translation>
    </message>
    <message>
        <source>{name} compares images with the training images only by its output “unlike”, if the model has an unlike score: the program that runs it must treat an image above 1 as unlike them. No result is “unsure” for this reason.</source>
        <translation>{name} 仅通过输出“unlike”将图片与训练图片比较（模型有差异分数时）：运行它的程序须将大于 1 的图片视为与训练图片不符，结果不会因此判为“不确定”。</translation>
    </message>
    <message>
        <source>Programs that run {names} compare no image with the training images: one that is unlike them gets a result like any other, and no result is “unsure” for this reason.</source>
        <translation>运行 {names} 的程序不会将图片与训练图片比较：与训练图片不符的图片同样得到结果，不会因此判为“不确定”。</translation>
    </message>
    <message>
        <source>Checking what the model marks</source>
        <translation>正在检查模型的标记</translation>
    </message>
    <message>
        <source>The temperature of the probabilities is at the edge of the range that was searched ({n}).</source>
        <translation>概率的温度位于搜索范围的边缘（{n}）。</translation>
    </message>
    <message>
        <source>The verdicts do not depend on it, but do not rely on the probabilities. More validation images may help.</source>
        <translation>判定不受影响，但概率不可靠。增加验证图片可能有帮助。</translation>
    </message>
    <message>
        <source>Only {n} of the {m} {split} {m:image|images} {n:was|were} evaluated within the time limit.</source>
        <translation>在时限内只评估了 {m} 张{split}图片中的 {n} 张。</translation>
    </message>
    <message>
        <source>The final metrics do not include this image.</source>
        <translation>最终指标不包含此图片。</translation>
    </message>
    <message>
        <source>This model has no unlike score.</source>
        <translation>此模型没有差异分数。</translation>
    </message>
    <message>
        <source>The training images have {n}-bit values in files for more bits.</source>
        <translation>训练图片的数值为 {n} 位，而文件可存储更多位。</translation>
    </message>
    <message>
        <source>They are scaled to their own range, as other images will be when they are predicted.</source>
        <translation>数值按其自身范围换算，预测其他图片时也是如此。</translation>
    </message>
    <message>
        <source>A last layer was fitted to the features of the training images: accuracy {n} on parts left out of the fit. {why}</source>
        <translation>已在训练图片的特征上拟合最后一层：在未参与拟合的零件上正确率为 {n}。{why}</translation>
    </message>
    <message>
        <source>The verdict rule of {run} is used again, with the same sentences.</source>
        <translation>沿用 {run} 的判定规则，语句不变。</translation>
    </message>
    <message>
        <source>The verdict rule of {run} is used again, with the same limits of the anomaly score. The scores of this model can be higher or lower: check the rule in the evaluation.</source>
        <translation>沿用 {run} 的判定规则，异常分数的限值不变。此模型的分数可能更高或更低：请在评估中检查该规则。</translation>
    </message>
    <message>
        <source>The verdict rule of {run} is used again; its threshold was chosen again on the validation images.</source>
        <translation>沿用 {run} 的判定规则；其阈值已在验证图片上重新选择。</translation>
    </message>
    <message>
        <source>The verdict rule of {run} is not used: {why} Images get no verdict until a rule is chosen in the evaluation.</source>
        <translation>未沿用 {run} 的判定规则：{why}在评估中选择规则之前，图片没有判定。</translation>
    </message>
    <message>
        <source>its threshold is chosen on validation images, and there are none, or the training was stopped.</source>
        <translation>其阈值要在验证图片上选择，但没有验证图片，或训练已被停止。</translation>
    </message>
    <message>
        <source>It was not trained further.</source>
        <translation>未继续训练。</translation>
    </message>
    <message>
        <source>Training further did not clearly improve the metric on validation images, so the fitted network is used.</source>
        <translation>继续训练没有明显提高验证图片上的指标，因此使用拟合的网络。</translation>
    </message>
    <message>
        <source>Without validation images it is unknown if training further improves it, so the fitted network is used.</source>
        <translation>没有验证图片，无法判断继续训练是否有改进，因此使用拟合的网络。</translation>
    </message>
    <message>
        <source>Training further improved the metric on validation images, so the trained network is used.</source>
        <translation>继续训练提高了验证图片上的指标，因此使用训练后的网络。</translation>
    </message>
    <message>
        <source>{kind} {share}</source>
        <translation>{kind} {share}</translation>
    </message>
    <message>
        <source>backward convolutions</source>
        <translation>反向卷积</translation>
    </message>
    <message>
        <source>forward convolutions</source>
        <translation>前向卷积</translation>
    </message>
    <message>
        <source>normalization</source>
        <translation>归一化</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>activation and pooling</source>
        <translation>激活与池化</translation>
    </message>
    <message>
        <source>loss and arithmetic</source>
        <translation>损失与其他运算</translation>
    </message>
    <message>
        <source>The steps could not be profiled: {why}.</source>
        <translation>无法对训练步进行性能分析：{why}。</translation>
    </message>
    <message>
        <source>Training continues without a profile.</source>
        <translation>训练继续，但不做性能分析。</translation>
    </message>
    <message>
        <source>Comparing good images</source>
        <translation>正在比较良品图片</translation>
    </message>
    <message>
        <source>Computing the features of the training images</source>
        <translation>正在计算训练图片的特征</translation>
    </message>
    <message>
        <source>the GPU failed ({why}); if this happens again, restart the computer, update the NVIDIA driver and run &apos;workbench doctor&apos;</source>
        <translation>GPU 出现故障（{why}）；如再次发生，请重启计算机、更新 NVIDIA 驱动并运行 workbench doctor</translation>
    </message>
    <message>
        <source>{n} of {m} good {m:image|images} of left-out parts exceed the limit that was set at 5% on the others ({parts} {parts:part|parts})</source>
        <translation>留出零件的 {m} 张良品图片中有 {n} 张超过按其他零件的 5% 设定的界限（{parts} 个零件）</translation>
    </message>
    <message>
        <source>good images of other parts deviate so far that their limit hides {n} of {m} generated defects</source>
        <translation>其他零件的良品图片偏差过大，其界限使 {m} 个生成的缺陷中有 {n} 个无法检出</translation>
    </message>
    <message>
        <source>No defect is labeled outside of the training images yet, so there are no metrics. Defects that are labeled later are evaluated.</source>
        <translation>训练图片之外还没有标注缺陷，因此没有指标。以后标注的缺陷会用于评估。</translation>
    </message>
    <message>
        <source>{n} of {m} good images of left-out parts exceed the limit; {k} of {m} generated defects exceed it (scale {scale}).</source>
        <translation>留出零件的 {m} 张良品图片中有 {n} 张超过界限；{m} 个生成的缺陷中有 {k} 个超过界限（缩放比例 {scale}）。</translation>
    </message>
    <message>
        <source>{n} of {m} good images of left-out parts exceed the limit; {k} of {m} generated defects exceed it (scale {scale}, compared by position).</source>
        <translation>留出零件的 {m} 张良品图片中有 {n} 张超过界限；{m} 个生成的缺陷中有 {k} 个超过界限（缩放比例 {scale}，按位置比较）。</translation>
    </message>
    <message>
        <source>it does not apply to a model of good images</source>
        <translation>它不适用于良品图片模型</translation>
    </message>
    <message>
        <source>The model of good images is complete. Train again to use labels that were added.</source>
        <translation>良品图片模型已经完成。要使用新加入的标注，请重新训练。</translation>
    </message>
    <message>
        <source>A model of good images: it marks what differs from them. It was fitted without defects to features of a pretrained network.</source>
        <translation>良品图片模型：标出与良品图片不同的地方。它不使用缺陷，根据预训练网络的特征拟合得到。</translation>
    </message>
    <message>
        <source>its ONNX operators are of version {n} and cannot be converted; export it again with opset {m} or later</source>
        <translation>其 ONNX 算子版本为 {n}，无法转换；请以 opset {m} 或更高版本重新导出</translation>
    </message>
    <message>
        <source>the network has {n} {n:input|inputs} ({names}), and one image is supported as input</source>
        <translation>网络有 {n} 个输入（{names}），只支持一个图片输入</translation>
    </message>
    <message>
        <source>the input of the network has {n} {n:dimension|dimensions}, and 4 are supported (batch, channels, height, width)</source>
        <translation>网络的输入有 {n} 维，只支持 4 维（批次、通道、高、宽）</translation>
    </message>
    <message>
        <source>the number type {name} of the input is not supported</source>
        <translation>不支持输入的数值类型 {name}</translation>
    </message>
    <message>
        <source>the input of the network has {n} {n:channel|channels}, and 1 (gray) or 3 (color) are supported</source>
        <translation>网络的输入有 {n} 个通道，只支持 1 个（灰度）或 3 个（彩色）</translation>
    </message>
    <message>
        <source>the layout of the input is {other}, not {layout}</source>
        <translation>输入的布局是 {other}，不是 {layout}</translation>
    </message>
    <message>
        <source>the input of the network has one channel, and the options describe three</source>
        <translation>网络的输入只有一个通道，而参数描述了三个</translation>
    </message>
    <message>
        <source>the input of the network is a batch of {n} {n:image|images}; export it again for a batch of 1 or of any size</source>
        <translation>网络的输入是 {n} 张图片的批次；请以批大小 1 或任意批大小重新导出</translation>
    </message>
    <message>
        <source>the input of the network has the fixed size {n}x{m} pixels, and only squares or free sizes are supported</source>
        <translation>网络的输入固定为 {n}x{m} 像素，只支持正方形或任意尺寸</translation>
    </message>
    <message>
        <source>the network does not accept an image of {size} pixels with {n} {n:value|values} per pixel ({why})</source>
        <translation>网络不接受 {size} 像素、每像素 {n} 个值的图片（{why}）</translation>
    </message>
    <message>
        <source>the network has {n} outputs ({names}); choose one of them</source>
        <translation>网络有 {n} 个输出（{names}），请选择其中一个</translation>
    </message>
    <message>
        <source>the network has no output {name}, but {names}</source>
        <translation>网络没有输出 {name}，只有 {names}</translation>
    </message>
    <message>
        <source>the output of the network has {n} {n:dimension|dimensions}, and a map per class is needed (4 dimensions)</source>
        <translation>网络的输出有 {n} 维，需要每个类别一张图（4 维）</translation>
    </message>
    <message>
        <source>the output of the network has {n} {n:channel|channels}, and the output {name} needs {m} for the named classes</source>
        <translation>网络的输出有 {n} 个通道，按所列类别，输出 {name} 需要 {m} 个</translation>
    </message>
    <message>
        <source>the output of the network has {n} {n:channel|channels}, and the output {name} needs {m} for the background and the named classes</source>
        <translation>网络的输出有 {n} 个通道，按背景和所列类别，输出 {name} 需要 {m} 个</translation>
    </message>
    <message>
        <source>the output of the network has {n} pixels for an image of {m} pixels</source>
        <translation>图片为 {m} 像素时，网络的输出为 {n} 像素</translation>
    </message>
    <message>
        <source>the network computes values that are not finite</source>
        <translation>网络计算出非有限数值</translation>
    </message>
    <message>
        <source>the output has values from {n} to {m}, which are not probabilities; the output may be {name}</source>
        <translation>输出的值从 {n} 到 {m}，不是概率；输出可能是 {name}</translation>
    </message>
    <message>
        <source>the probabilities of a pixel do not add up to 1, so they are not from a softmax</source>
        <translation>每个像素的概率之和不为 1，因此不是 softmax 的结果</translation>
    </message>
    <message>
        <source>the output holds probabilities that add up to 1, so it is softmax instead of logits</source>
        <translation>输出是和为 1 的概率，因此应为 softmax 而不是 logits</translation>
    </message>
    <message>
        <source>the output has values from {n} to {m}, which are not the numbers 0 to {k} of classes</source>
        <translation>输出的值从 {n} 到 {m}，不是类别编号 0 到 {k}</translation>
    </message>
    <message>
        <source>at least one class must be named</source>
        <translation>至少需要一个类别</translation>
    </message>
    <message>
        <source>a class is named twice</source>
        <translation>有一个类别重复</translation>
    </message>
    <message>
        <source>an output of one channel has one class</source>
        <translation>单通道输出只有一个类别</translation>
    </message>
    <message>
        <source>one value or three values are needed</source>
        <translation>需要一个值或三个值</translation>
    </message>
    <message>
        <source>values above 2 are for images whose white is 255</source>
        <translation>大于 2 的值适用于白色为 255 的图片</translation>
    </message>
    <message>
        <source>it must be a whole number from 1 to {n}</source>
        <translation>必须是 1 到 {n} 的整数</translation>
    </message>
    <message>
        <source>it must be a multiple of {n}, the stride</source>
        <translation>必须是步幅 {n} 的整数倍</translation>
    </message>
    <message>
        <source>it must be above 0 and at most 16</source>
        <translation>必须大于 0 且不超过 16</translation>
    </message>
    <message>
        <source>it must be above 0 and at most 1</source>
        <translation>必须大于 0 且不超过 1</translation>
    </message>
    <message>
        <source>The model was added from a file. No image is labeled yet, so there are no metrics.</source>
        <translation>该模型从文件添加。尚无已标注的图片，因此没有指标。</translation>
    </message>
    <message>
        <source>The model was added from a file. All labeled images are test images. Whether the model was trained on them is not known.</source>
        <translation>该模型从文件添加。所有已标注的图片都是测试图片，不清楚模型是否用它们训练过。</translation>
    </message>
    <message>
        <source>no training can start from it</source>
        <translation>不能以它作为初始权重训练</translation>
    </message>
    <message>
        <source>it cannot be exported in the format {name}, which needs a Paddle network</source>
        <translation>不能导出为 {name} 格式，该格式需要 Paddle 网络</translation>
    </message>
    <message>
        <source>The network was not trained by this application. It was added from the file {name} (SHA-256 {hash}).</source>
        <translation>该网络不是由本软件训练的，而是从文件 {name} 添加（SHA-256 {hash}）。</translation>
    </message>
    <message>
        <source>Output of the file: {name}. Classes in the order of its channels: {names}.</source>
        <translation>文件的输出：{name}。按通道顺序的类别：{names}。</translation>
    </message>
    <message>
        <source>ONNX operators of version {n} in the added network cannot be converted to version {m}</source>
        <translation>添加的网络使用版本 {n} 的 ONNX 算子，无法转换为版本 {m}</translation>
    </message>
    <message>
        <source>{n} older {n:import or merge|imports or merges} can no longer be undone: the last {m} are kept, up to {gb} GB.</source>
        <translation>{n} 次较早的导入或合并不能再撤销：只保留最近 {m} 次，最多 {gb} GB。</translation>
    </message>
    <message>
        <source>it is larger than {n} GB</source>
        <translation>大于 {n} GB</translation>
    </message>
    <message>
        <source>it computed for more than {n} seconds and was ended</source>
        <translation>其计算超过 {n} 秒，已被终止</translation>
    </message>
    <message>
        <source>it needed more than {n} GB of memory and was ended</source>
        <translation>其占用的内存超过 {n} GB，已被终止</translation>
    </message>
    <message>
        <source>the process that computed it ended unexpectedly</source>
        <translation>计算它的进程意外结束</translation>
    </message>
    <message>
        <source>ONNX Runtime cannot load it ({why})</source>
        <translation>ONNX Runtime 无法加载（{why}）</translation>
    </message>
    <message>
        <source>it cannot be computed ({why})</source>
        <translation>无法计算（{why}）</translation>
    </message>
    <message>
        <source>the network cannot be computed for this image or these points ({why})</source>
        <translation>网络无法对此图片或这些点进行计算（{why}）</translation>
    </message>
    <message>
        <source>it is the mask decoder, and the other file is the encoder; exchange the two</source>
        <translation>这是掩膜解码器，另一个文件是编码器；请交换两者</translation>
    </message>
    <message>
        <source>an image encoder with one input for an image of 3 channels is expected; the inputs are {inputs}, the outputs {outputs}</source>
        <translation>应为图片编码器，具有一个 3 通道图片输入；实际输入为 {inputs}，输出为 {outputs}</translation>
    </message>
    <message>
        <source>a mask decoder with the inputs point_coords and point_labels (or batched_point_coords and batched_point_labels) is expected; the inputs are {inputs}, the outputs {outputs}</source>
        <translation>应为掩膜解码器，具有输入 point_coords 和 point_labels（或 batched_point_coords 和 batched_point_labels）；实际输入为 {inputs}，输出为 {outputs}</translation>
    </message>
    <message>
        <source>a mask decoder with the output low_res_masks, masks or output_masks is expected; the inputs are {inputs}, the outputs {outputs}</source>
        <translation>应为掩膜解码器，具有输出 low_res_masks、masks 或 output_masks；实际输入为 {inputs}，输出为 {outputs}</translation>
    </message>
    <message>
        <source>the inputs mask_input (1×1×height×width) and has_mask_input are expected together; the inputs are {inputs}, the outputs {outputs}</source>
        <translation>输入 mask_input（1×1×高×宽）和 has_mask_input 应同时存在；实际输入为 {inputs}，输出为 {outputs}</translation>
    </message>
    <message>
        <source>points of 1×N×2 or 1×1×N×2 values with a label each are expected; the inputs are {name} and {other}</source>
        <translation>点应为 1×N×2 或 1×1×N×2 个值，每个点有一个标记值；实际输入为 {name} 和 {other}</translation>
    </message>
    <message>
        <source>the number type of {name} is not supported</source>
        <translation>不支持 {name} 的数值类型</translation>
    </message>
    <message>
        <source>height and width of the image must both be free or at most {n} pixels; the input is {name}</source>
        <translation>图片的高和宽必须都可变，或都不超过 {n} 像素；实际输入为 {name}</translation>
    </message>
    <message>
        <source>the decoder needs {names}; the encoder {name} computes {outputs}</source>
        <translation>解码器需要 {names}；编码器 {name} 计算的是 {outputs}</translation>
    </message>
    <message>
        <source>the masks have the shape {n}, and height and width are expected as the last two dimensions</source>
        <translation>掩膜的形状为 {n}，最后两维应为高和宽</translation>
    </message>
    <message>
        <source>the decoder computes {n} {n:mask|masks} and {m} {m:quality|qualities}</source>
        <translation>解码器计算出 {n} 个掩膜和 {m} 个质量值</translation>
    </message>
    <message>
        <source>the file is not a checkpoint of a training</source>
        <translation>该文件不是训练的检查点</translation>
    </message>
    <message>
        <source>the elapsed time is missing</source>
        <translation>缺少已用时间</translation>
    </message>
    <message>
        <source>the weights do not match the widths ({why})</source>
        <translation>权重与各层宽度不符（{why}）</translation>
    </message>
    <message>
        <source>the file requests a call of {name}, which weight files never need</source>
        <translation>文件要求调用 {name}，而权重文件不需要这样做</translation>
    </message>
    <message>
        <source>the file holds something other than arrays of numbers</source>
        <translation>文件含有数值数组以外的内容</translation>
    </message>
    <message>
        <source>the file holds no table of weights</source>
        <translation>文件中没有权重表</translation>
    </message>
    <message>
        <source>the file holds no weights</source>
        <translation>文件中没有权重</translation>
    </message>
    <message>
        <source>the file is in PyTorch&apos;s own format; save the weights as .safetensors instead</source>
        <translation>文件为 PyTorch 专有格式；请将权重另存为 .safetensors</translation>
    </message>
    <message>
        <source>the file is neither a safetensors nor a pdparams file ({why})</source>
        <translation>文件既不是 safetensors 也不是 pdparams 格式（{why}）</translation>
    </message>
    <message>
        <source>the file is larger than {n} GiB</source>
        <translation>文件大于 {n} GiB</translation>
    </message>
    <message>
        <source>the file requires more memory than is available</source>
        <translation>文件所需内存超过可用内存</translation>
    </message>
    <message>
        <source>the file is damaged ({why})</source>
        <translation>文件已损坏（{why}）</translation>
    </message>
    <message>
        <source>the file holds a ResNet-{n}, but this run trains a ResNet-{m}; set {setting}</source>
        <translation>文件为 ResNet-{n}，而本训练使用 ResNet-{m}；请设置 {setting}</translation>
    </message>
    <message>
        <source>the file holds a ResNet-{n}, but this run trains a ResNet-{m}; a UNet has no encoder of that depth</source>
        <translation>文件为 ResNet-{n}，而本训练使用 ResNet-{m}；UNet 没有该深度的编码器</translation>
    </message>
    <message>
        <source>{name} of a ResNet-{n} is missing</source>
        <translation>缺少 ResNet-{n} 的 {name}</translation>
    </message>
    <message>
        <source>{name} has shape {a} instead of {b} as in a plain ResNet-{n}</source>
        <translation>{name} 的形状为 {a}，而标准 ResNet-{n} 为 {b}</translation>
    </message>
    <message>
        <source>{name} holds NaN or infinite values</source>
        <translation>{name} 含有 NaN 或无穷大的值</translation>
    </message>
    <message>
        <source>the file holds no ResNet (neither conv1 nor layer1 by these names)</source>
        <translation>文件中没有 ResNet（没有名为 conv1 或 layer1 的层）</translation>
    </message>
    <message>
        <source>the file holds another kind of ResNet ({name} is not part of a plain one)</source>
        <translation>文件为其他类型的 ResNet（{name} 不属于标准 ResNet）</translation>
    </message>
    <message>
        <source>the file holds a network other than ResNet-18, -34 or -50 ({what})</source>
        <translation>文件中的网络不是 ResNet-18、-34 或 -50（{what}）</translation>
    </message>
    <message>
        <source>the encoder lite0 starts from the weights that are part of the program (imagenet) or from none (random)</source>
        <translation>编码器 lite0 使用程序自带的权重（imagenet），或不使用权重（random）</translation>
    </message>
    <message>
        <source>only a ResNet can start from these weights; for a UNet set encoder=resnet18 or encoder=resnet34</source>
        <translation>只有 ResNet 可以使用这些初始权重；UNet 请设置 encoder=resnet18 或 encoder=resnet34</translation>
    </message>
    <message>
        <source>published weights have the full width; set width=1.0</source>
        <translation>公开的权重为完整宽度；请设置 width=1.0</translation>
    </message>
    <message>
        <source>published weights require the large first layer; set input_size=128 or more</source>
        <translation>公开的权重需要较大的第一层；请设置 input_size=128 或更大</translation>
    </message>
    <message>
        <source>the file is too large</source>
        <translation>文件过大</translation>
    </message>
    <message>
        <source>the downloaded file is not the expected one (checksum differs)</source>
        <translation>下载的文件与预期不符（校验和不同）</translation>
    </message>
    <message>
        <source>The format {name} cannot be created on this computer: {why}.</source>
        <translation>无法在本机上创建格式 {name}：{why}。</translation>
    </message>
    <message>
        <source>The self-contained model cannot be created for this image size or model: {why}.</source>
        <translation>无法为此图片尺寸或模型创建独立模型：{why}。</translation>
    </message>
    <message>
        <source>The files for {name} cannot be created for this model: {why}.</source>
        <translation>无法为此模型创建 {name} 的文件：{why}。</translation>
    </message>
    <message>
        <source>This format is not included in the export.</source>
        <translation>导出的模型包不包含此格式。</translation>
    </message>
    <message>
        <source>{file} does not reproduce its reference results: {why}</source>
        <translation>{file} 未能重现其参考结果：{why}</translation>
    </message>
    <message>
        <source>The model in {name} does not reproduce the results of the run: {why}.</source>
        <translation>{name} 格式的模型未能重现训练记录的结果：{why}。</translation>
    </message>
    <message>
        <source>the model could not be quantized: {why}</source>
        <translation>模型无法量化：{why}</translation>
    </message>
    <message>
        <source>the model could not be converted: {why}</source>
        <translation>模型无法转换：{why}</translation>
    </message>
    <message>
        <source>choose at least one of {names}</source>
        <translation>请至少选择 {names} 之一</translation>
    </message>
    <message>
        <source>the formats are {names}</source>
        <translation>可用的格式为 {names}</translation>
    </message>
    <message>
        <source>must be height x width, each side from {n} to {m} pixels, and at most {k} million pixels in all</source>
        <translation>必须是“高x宽”，每边 {n} 到 {m} 像素，总计不超过 {k} 百万像素</translation>
    </message>
    <message>
        <source>the model was trained on floating-point images, and a line model reads 8-bit or 16-bit integers</source>
        <translation>模型是用浮点图片训练的，而独立模型只读取 8 位或 16 位整数图片</translation>
    </message>
    <message>
        <source>the network cannot have fixed sizes throughout ({why})</source>
        <translation>该网络无法全部使用固定尺寸（{why}）</translation>
    </message>
    <message>
        <source>its images are resized by a factor of {n}, which these tools do not do</source>
        <translation>其图片按 {n} 倍缩放，这些工具不支持缩放</translation>
    </message>
    <message>
        <source>the inspection area moves with the part, which a line model cannot look for</source>
        <translation>检测区域随零件移动，而独立模型不能寻找零件</translation>
    </message>
    <message>
        <source>images of different folders have inspection areas of their own, and a line model has one</source>
        <translation>不同文件夹的图片有各自的检测区域，而独立模型只能有一个</translation>
    </message>
    <message>
        <source>the image would have to be enlarged to {n} pixels, which a line model cannot do</source>
        <translation>图片需要放大到 {n} 像素，独立模型无法做到</translation>
    </message>
    <message>
        <source>must be a time in milliseconds above 0</source>
        <translation>必须为大于 0 的时间（毫秒）</translation>
    </message>
    <message>
        <source>must be {names}</source>
        <translation>必须为 {names}</translation>
    </message>
    <message>
        <source>must be one of {names}, or a probability above 0 and at most 1</source>
        <translation>必须为 {names} 之一，或大于 0 且不大于 1 的概率</translation>
    </message>
    <message>
        <source>for verdicts, it must be a probability: less probable verdicts are not given</source>
        <translation>对于判定，必须为概率：概率更低的判定不给出</translation>
    </message>
    <message>
        <source>there is no image to compare</source>
        <translation>没有可比较的图片</translation>
    </message>
    <message>
        <source>a probability differs by {n}, more than {m}</source>
        <translation>有概率相差 {n}，超过 {m}</translation>
    </message>
    <message>
        <source>only {n} of the results agree, less than {m}</source>
        <translation>只有 {n} 的结果一致，低于 {m}</translation>
    </message>
    <message>
        <source>the regions or verdicts differ</source>
        <translation>区域或判定不同</translation>
    </message>
    <message>
        <source>an unlike score differs by {n}, more than {m}</source>
        <translation>差异分数相差 {n}，超过 {m}</translation>
    </message>
    <message>
        <source>the model returns invalid values (NaN or infinity)</source>
        <translation>模型返回无效值（NaN 或无穷大）</translation>
    </message>
    <message>
        <source>{name} cannot be predicted: {why}</source>
        <translation>无法预测 {name}：{why}</translation>
    </message>
    <message>
        <source>there is no labeled image for the evaluation</source>
        <translation>没有可用于评估的已标注图片</translation>
    </message>
    <message>
        <source>the {name} on labeled images falls from {n} to {m}</source>
        <translation>已标注图片上的 {name} 从 {n} 降到 {m}</translation>
    </message>
    <message>
        <source>{n} of {m} labeled {m:defect|defects} are detected instead of {k}</source>
        <translation>{m} 处已标注缺陷中检出 {n} 处，而不是 {k} 处</translation>
    </message>
    <message>
        <source>{engine} is the fastest for the typical image size.</source>
        <translation>在常见图片尺寸下，{engine} 最快。</translation>
    </message>
    <message>
        <source>{engine} is the fastest of the 32-bit formats for the typical image size.</source>
        <translation>在常见图片尺寸下，{engine} 是 32 位格式中最快的。</translation>
    </message>
    <message>
        <source>Only {engine}, in reduced precision, reaches the requested {n} ms.</source>
        <translation>只有低精度的 {engine} 达到要求的 {n} ms。</translation>
    </message>
    <message>
        <source>No format reaches the requested {n} ms; {engine} is the fastest.</source>
        <translation>没有格式达到要求的 {n} ms；{engine} 最快。</translation>
    </message>
    <message>
        <source>There are only formats in reduced precision.</source>
        <translation>只有低精度格式。</translation>
    </message>
    <message>
        <source>the measurement did not end within the time limit</source>
        <translation>测量未在时限内结束</translation>
    </message>
    <message>
        <source>the measurement ended with exit code {n}</source>
        <translation>测量以退出代码 {n} 结束</translation>
    </message>
    <message>
        <source>the file was written by a newer version</source>
        <translation>文件由更新的版本写入</translation>
    </message>
    <message>
        <source>the file no longer exists</source>
        <translation>文件已不存在</translation>
    </message>
    <message>
        <source>the file does not exist</source>
        <translation>文件不存在</translation>
    </message>
    <message>
        <source>the format version is missing</source>
        <translation>缺少格式版本</translation>
    </message>
    <message>
        <source>the path {path} leads out of the project</source>
        <translation>路径 {path} 指向项目之外</translation>
    </message>
    <message>
        <source>there are too many images of this name</source>
        <translation>同名图片太多</translation>
    </message>
    <message>
        <source>the file does not hold a JSON object</source>
        <translation>文件中不是 JSON 对象</translation>
    </message>
    <message>
        <source>the file was written by a newer version (format {found})</source>
        <translation>文件由更新的版本写入（格式 {found}）</translation>
    </message>
    <message>
        <source>another folder has this name</source>
        <translation>有另一个文件夹使用此名称</translation>
    </message>
    <message>
        <source>a symbolic link leads out of the project folder</source>
        <translation>有符号链接指向项目文件夹之外</translation>
    </message>
    <message>
        <source>the file is a symbolic link</source>
        <translation>该文件是符号链接</translation>
    </message>
    <message>
        <source>its content is not what was written</source>
        <translation>其内容与写入的内容不同</translation>
    </message>
    <message>
        <source>the project is locked</source>
        <translation>项目已被锁定</translation>
    </message>
    <message>
        <source>two image folders have the same name</source>
        <translation>两个图片文件夹同名</translation>
    </message>
    <message>
        <source>that folder still exists</source>
        <translation>该文件夹仍然存在</translation>
    </message>
    <message>
        <source>unsaved changes belong to that folder</source>
        <translation>未保存的更改属于该文件夹</translation>
    </message>
    <message>
        <source>the name is empty</source>
        <translation>名称为空</translation>
    </message>
    <message>
        <source>there is no class with this ID</source>
        <translation>没有此 ID 的类别</translation>
    </message>
    <message>
        <source>no ID is free (IDs are 1 to {n} and never reused)</source>
        <translation>没有空闲的 ID（ID 为 1 至 {n}，不会重复使用）</translation>
    </message>
    <message>
        <source>two classes have the same ID</source>
        <translation>两个类别的 ID 相同</translation>
    </message>
    <message>
        <source>the name is longer than {n} characters</source>
        <translation>名称超过 {n} 个字符</translation>
    </message>
    <message>
        <source>the file is a {mode} image, not a mask of class IDs</source>
        <translation>文件为 {mode} 图片，不是类别 ID 掩膜</translation>
    </message>
    <message>
        <source>the name of the image is too long for its label file; rename the image</source>
        <translation>图片的名称过长，无法保存标注文件；请重命名该图片</translation>
    </message>
    <message>
        <source>the size of the mask has changed</source>
        <translation>掩膜的尺寸已改变</translation>
    </message>
    <message>
        <source>the file is not a PNG file</source>
        <translation>文件不是 PNG 文件</translation>
    </message>
    <message>
        <source>There {n:is|are} {n} good {n:image|images}; at least {m} are needed.</source>
        <translation>良品图片有 {n} 张，至少需要 {m} 张。</translation>
    </message>
    <message>
        <source>There are no images with defects.</source>
        <translation>没有含缺陷的图片。</translation>
    </message>
    <message>
        <source>With {n} or more images, the rule is measured on parts that it was not chosen on: chosen on one half of them, measured on the other, and vice versa.</source>
        <translation>有 {n} 张及以上图片时，规则在未用于选择它的零件上统计：在一半零件上选定，在另一半上统计，然后交换。</translation>
    </message>
    <message>
        <source>The rule was entered and not chosen on images. On new parts its result may differ from that on these images.</source>
        <translation>该规则由用户输入，并非根据图片选出。用于新零件时，结果可能与这些图片上的不同。</translation>
    </message>
    <message>
        <source>The rule was chosen on other images.</source>
        <translation>规则在其他图片上选定。</translation>
    </message>
    <message>
        <source>{n} good {n:image is|images are} too few for a budget of {budget} false {budget:alarm|alarms} in 100 good images; at least {needed} are needed. The threshold is a tenth above their greatest anomaly score.</source>
        <translation>{n} 张良品图片不足以保证每 100 张良品图片最多 {budget} 次误报，至少需要 {needed} 张。阈值取其最大异常分数再加 10%。</translation>
    </message>
    <message>
        <source>The good images show {n} {n:part, which is|parts, which are} too few for a budget of {budget} false {budget:alarm|alarms} in 100 good images of new parts; at least {needed} parts are needed. The budget holds for images of these parts only.</source>
        <translation>良品图片来自 {n} 个零件，不足以保证新零件每 100 张良品图片最多 {budget} 次误报，至少需要 {needed} 个零件。此限制仅适用于这些零件的图片。</translation>
    </message>
    <message>
        <source>There are no good images, so the budget has no effect: any region rejects an image.</source>
        <translation>没有良品图片，因此误报限制不起作用：任何区域都会使图片被拒收。</translation>
    </message>
    <message>
        <source>Missing image folders</source>
        <translation>缺失的图片文件夹</translation>
    </message>
    <message>
        <source>Connect the drive, or locate the folder.</source>
        <translation>请连接磁盘，或定位文件夹的当前位置。</translation>
    </message>
    <message>
        <source>Folders that cannot be listed</source>
        <translation>无法列出内容的文件夹</translation>
    </message>
    <message>
        <source>Make the folder readable or connect the drive again. Until then, its images are left out.</source>
        <translation>请使文件夹可读或重新连接驱动器。在此之前，其中的图片不会列出。</translation>
    </message>
    <message>
        <source>Unreadable images</source>
        <translation>无法读取的图片</translation>
    </message>
    <message>
        <source>These images are excluded from training. Restore or remove them.</source>
        <translation>这些图片不参与训练。请恢复或移除它们。</translation>
    </message>
    <message>
        <source>Unreadable masks</source>
        <translation>无法读取的掩膜</translation>
    </message>
    <message>
        <source>Restore the masks from a backup, or delete them and label again.</source>
        <translation>请从备份恢复掩膜，或将其删除后重新标注。</translation>
    </message>
    <message>
        <source>Masks with another size than their image</source>
        <translation>尺寸与图片不同的掩膜</translation>
    </message>
    <message>
        <source>Import or label again. These masks are ignored.</source>
        <translation>请重新导入或重新标注。这些掩膜会被忽略。</translation>
    </message>
    <message>
        <source>Masks with unknown class IDs</source>
        <translation>含未知类别 ID 的掩膜</translation>
    </message>
    <message>
        <source>Add these classes, or import again.</source>
        <translation>请添加这些类别，或重新导入。</translation>
    </message>
    <message>
        <source>Unreadable notes</source>
        <translation>无法读取的备注文件</translation>
    </message>
    <message>
        <source>Repair or delete the file. Its verdict and status are ignored.</source>
        <translation>请修复或删除该文件。其中的判定和状态会被忽略。</translation>
    </message>
    <message>
        <source>Masks without an image</source>
        <translation>没有对应图片的掩膜</translation>
    </message>
    <message>
        <source>If the image was renamed or moved, rename the mask in the same way.</source>
        <translation>如果图片已重命名或移动，请以同样方式重命名掩膜。</translation>
    </message>
    <message>
        <source>Notes without an image</source>
        <translation>没有对应图片的备注文件</translation>
    </message>
    <message>
        <source>If the image was renamed or moved, rename the note in the same way.</source>
        <translation>如果图片已重命名或移动，请以同样方式重命名备注文件。</translation>
    </message>
    <message>
        <source>Defective by verdict, but no defect is labeled</source>
        <translation>判定为有缺陷，但未标注缺陷</translation>
    </message>
    <message>
        <source>Label the defect, or correct the verdict.</source>
        <translation>请标注缺陷，或更正判定。</translation>
    </message>
    <message>
        <source>Good by verdict, but a defect is labeled</source>
        <translation>判定为良品，但标注了缺陷</translation>
    </message>
    <message>
        <source>Correct the verdict, or erase the label.</source>
        <translation>请更正判定，或擦除标注。</translation>
    </message>
    <message>
        <source>Verdicts that differ from the folder name</source>
        <translation>与文件夹名称不同的判定</translation>
    </message>
    <message>
        <source>Correct the verdict, or move the image.</source>
        <translation>请更正判定，或移动图片。</translation>
    </message>
    <message>
        <source>Tiny labeled regions</source>
        <translation>微小的标注区域</translation>
    </message>
    <message>
        <source>Most are accidental strokes. Check and erase them.</source>
        <translation>大多是误操作的笔画。请检查并擦除。</translation>
    </message>
    <message>
        <source>Tiny holes in regions</source>
        <translation>区域中的微小孔洞</translation>
    </message>
    <message>
        <source>Most are gaps between strokes. Fill them.</source>
        <translation>大多是笔画之间的空隙。请填充。</translation>
    </message>
    <message>
        <source>Classes without labels</source>
        <translation>没有标注的类别</translation>
    </message>
    <message>
        <source>Delete classes that are not needed.</source>
        <translation>请删除不需要的类别。</translation>
    </message>
    <message>
        <source>Classes with similar names</source>
        <translation>名称相似的类别</translation>
    </message>
    <message>
        <source>Merge classes with the same meaning.</source>
        <translation>请合并含义相同的类别。</translation>
    </message>
    <message>
        <source>Duplicate images</source>
        <translation>重复的图片</translation>
    </message>
    <message>
        <source>Keep one copy. Duplicates in training and validation make metrics too high.</source>
        <translation>请只保留一份。同时出现在训练集和验证集中的重复图片会使指标偏高。</translation>
    </message>
    <message>
        <source>Near-duplicate training and validation/test images</source>
        <translation>训练集与验证/测试集中近似重复的图片</translation>
    </message>
    <message>
        <source>Put them into one group. Metrics are too high.</source>
        <translation>请将它们归入同一分组。否则指标偏高。</translation>
    </message>
    <message>
        <source>Invalid grouping pattern</source>
        <translation>无效的分组表达式</translation>
    </message>
    <message>
        <source>Correct it in project.json. Training is not possible until then.</source>
        <translation>请在 project.json 中更正，否则无法训练。</translation>
    </message>
    <message>
        <source>the folder {path} is not available</source>
        <translation>文件夹 {path} 不可用</translation>
    </message>
    <message>
        <source>the folder cannot be listed ({why})</source>
        <translation>无法列出该文件夹的内容（{why}）</translation>
    </message>
    <message>
        <source>the mask is {mask_width} × {mask_height} pixels, the image {width} × {height}</source>
        <translation>掩膜为 {mask_width} × {mask_height} 像素，图片为 {width} × {height}</translation>
    </message>
    <message>
        <source>the class IDs {ids} do not exist</source>
        <translation>类别 ID {ids} 不存在</translation>
    </message>
    <message>
        <source>a defect is labeled, but the verdict is {verdict}</source>
        <translation>标注了缺陷，但判定为 {verdict}</translation>
    </message>
    <message>
        <source>nothing is labeled, but the verdict is {verdict}</source>
        <translation>未标注任何内容，但判定为 {verdict}</translation>
    </message>
    <message>
        <source>the image is in a folder named {name}, but has no verdict</source>
        <translation>图片位于名为 {name} 的文件夹中，但没有判定</translation>
    </message>
    <message>
        <source>the image is in a folder named {name}, but its verdict is {verdict}</source>
        <translation>图片位于名为 {name} 的文件夹中，但判定为 {verdict}</translation>
    </message>
    <message>
        <source>regions of {name} with fewer than {limit} pixels: {n}, the first at {x}, {y}</source>
        <translation>{name} 中少于 {limit} 像素的区域：{n} 个，第一个位于 {x}, {y}</translation>
    </message>
    <message>
        <source>holes with fewer than {limit} pixels: {n}, the first at {x}, {y}</source>
        <translation>少于 {limit} 像素的孔洞：{n} 个，第一个位于 {x}, {y}</translation>
    </message>
    <message>
        <source>the project has no image of this name</source>
        <translation>项目中没有此名称的图片</translation>
    </message>
    <message>
        <source>not used in any image (ID {id})</source>
        <translation>未在任何图片中使用（ID {id}）</translation>
    </message>
    <message>
        <source>differs only slightly from {name}</source>
        <translation>与 {name} 仅略有不同</translation>
    </message>
    <message>
        <source>the pattern {pattern} is invalid ({why})</source>
        <translation>表达式 {pattern} 无效（{why}）</translation>
    </message>
    <message>
        <source>identical to {name}</source>
        <translation>与 {name} 完全相同</translation>
    </message>
    <message>
        <source>in another split than its duplicate {name}</source>
        <translation>与重复图片 {name} 属于不同的数据划分</translation>
    </message>
    <message>
        <source>labeled differently than its duplicate {name}</source>
        <translation>标注与重复图片 {name} 不同</translation>
    </message>
    <message>
        <source>in another split and labeled differently than its duplicate {name}</source>
        <translation>与重复图片 {name} 属于不同的数据划分，且标注不同</translation>
    </message>
    <message>
        <source>similar to the training image {name}, but used for validation</source>
        <translation>与训练图片 {name} 相似，但用于验证</translation>
    </message>
    <message>
        <source>similar to the training image {name}, but used for testing</source>
        <translation>与训练图片 {name} 相似，但用于测试</translation>
    </message>
    <message>
        <source>the record beside it is damaged</source>
        <translation>旁边的记录已损坏</translation>
    </message>
    <message>
        <source>its image is missing</source>
        <translation>缺少其图片</translation>
    </message>
    <message>
        <source>the image is not the one of its record</source>
        <translation>图片与其记录不符</translation>
    </message>
    <message>
        <source>the image already has a label, which was kept</source>
        <translation>该图片已有标注，已保留</translation>
    </message>
    <message>
        <source>it contains no project.json</source>
        <translation>其中没有 project.json</translation>
    </message>
    <message>
        <source>the archive is damaged ({why})</source>
        <translation>压缩文件已损坏（{why}）</translation>
    </message>
    <message>
        <source>the image is not available and not in this project</source>
        <translation>图片不可用，且不在此项目中</translation>
    </message>
    <message>
        <source>the archive unpacks to more than {n} GB</source>
        <translation>压缩包解压后超过 {n} GB</translation>
    </message>
    <message>
        <source>the archive holds two files named {name}</source>
        <translation>压缩包中有两个名为 {name} 的文件</translation>
    </message>
    <message>
        <source>the archive holds folders nested more than {n} levels deep</source>
        <translation>压缩包中的文件夹嵌套超过 {n} 层</translation>
    </message>
    <message>
        <source>the names of the folders ({names}) may not be verdicts; choose the format folders if they are</source>
        <translation>文件夹名称（{names}）可能不是判定；如果是，请选择格式 folders</translation>
    </message>
    <message>
        <source>folders of two levels may be verdicts ({first}; {second}): the format folders uses the first; to use the second, import one of the first</source>
        <translation>两级文件夹都可能是判定（{first}；{second}）：格式 folders 使用第一级；要使用第二级，请导入第一级中的一个文件夹</translation>
    </message>
    <message>
        <source>the folder contains {names}</source>
        <translation>文件夹包含 {names}</translation>
    </message>
    <message>
        <source>the folder contains no files</source>
        <translation>文件夹中没有文件</translation>
    </message>
    <message>
        <source>tracks</source>
        <translation>跟踪轨迹</translation>
    </message>
    <message>
        <source>keyframe marks</source>
        <translation>关键帧标记</translation>
    </message>
    <message>
        <source>shapes between the keyframes of tracks</source>
        <translation>轨迹关键帧之间的形状</translation>
    </message>
    <message>
        <source>shapes&apos; attributes</source>
        <translation>形状的属性</translation>
    </message>
    <message>
        <source>group numbers</source>
        <translation>分组编号</translation>
    </message>
    <message>
        <source>marks of groups</source>
        <translation>群组标记</translation>
    </message>
    <message>
        <source>image tags</source>
        <translation>图片标签（tag）</translation>
    </message>
    <message>
        <source>flags “difficult”</source>
        <translation>“difficult”标记</translation>
    </message>
    <message>
        <source>crowd flags</source>
        <translation>iscrowd 标记</translation>
    </message>
    <message>
        <source>key point sets</source>
        <translation>关键点组</translation>
    </message>
    <message>
        <source>polygons with fewer than three points</source>
        <translation>少于三个点的多边形</translation>
    </message>
    <message>
        <source>descriptions</source>
        <translation>描述文字</translation>
    </message>
    <message>
        <source>depths of cuboids</source>
        <translation>长方体的深度</translation>
    </message>
    <message>
        <source>notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>groups of several polygons</source>
        <translation>由多个多边形组成的分组</translation>
    </message>
    <message>
        <source>its image was found neither beside it nor in the project</source>
        <translation>其图片既不在标注文件旁边，也不在项目中</translation>
    </message>
    <message>
        <source>the image has several flags ({names}) and gets no verdict</source>
        <translation>该图片有多个标记（{names}），因此不设置判定</translation>
    </message>
    <message>
        <source>flags of shapes were not imported: {names}</source>
        <translation>形状的标记（flags）未导入：{names}</translation>
    </message>
    <message>
        <source>the label file has {n} MB; files of up to {m} MB can be imported. Export the labels in several parts</source>
        <translation>标注文件大小为 {n} MB；最多可导入 {m} MB 的文件。请将标注分成几部分导出</translation>
    </message>
    <message>
        <source>{n} {n:pixel is|pixels are} covered by several classes. The last class is used.</source>
        <translation>{n} 个像素被多个类别覆盖，采用最后一个类别。</translation>
    </message>
    <message>
        <source>{n} {n:object touches others of its|objects touch others of their} class and became one region with them.</source>
        <translation>{n} 个对象与同类的其他对象相接，已合并为一个区域。</translation>
    </message>
    <message>
        <source>{note} Found in: {files}.</source>
        <translation>{note}所在文件：{files}。</translation>
    </message>
    <message>
        <source>{note} Found in: {files} and {n} more.</source>
        <translation>{note}所在文件：{files} 及另外 {n} 个。</translation>
    </message>
    <message>
        <source>{n} {n:shape lies|shapes lie} mostly outside of the image and {n:was|were} cut at its edge. {n:Its|Their} numbers may have another meaning.</source>
        <translation>有 {n} 个形状大部分位于图片之外，已在图片边缘裁剪。其数值可能另有含义。</translation>
    </message>
    <message>
        <source>{first} and {second} name the classes differently; keep one of them, or choose the data.yaml</source>
        <translation>{first} 与 {second} 中的类别名称不一致；请只保留其中一个，或直接选择 data.yaml</translation>
    </message>
    <message>
        <source>it names the classes differently than {file}</source>
        <translation>其中的类别名称与 {file} 不一致</translation>
    </message>
    <message>
        <source>{n} {n:number of a single object was|numbers of single objects were} not imported.</source>
        <translation>未导入 {n} 个单个对象的编号。</translation>
    </message>
    <message>
        <source>{n} {n:image is a copy of a labeled image|images are copies of labeled images} in another folder and {n:was|were} not imported.</source>
        <translation>{n} 张图片是其他文件夹中已标注图片的副本，未导入。</translation>
    </message>
    <message>
        <source>the image of task {n} was not found. Add the JSON export to the folder, or name the image task-{n}</source>
        <translation>未找到任务 {n} 的图片。请将 JSON 导出文件放入该文件夹，或将图片命名为 task-{n}</translation>
    </message>
    <message>
        <source>the mask holds {n} different {n:value|values}, as a mask of numbered objects does; import it with a class name</source>
        <translation>该掩膜含有 {n} 个不同的值，如同对象编号掩膜；请指定类别名称后导入</translation>
    </message>
    <message>
        <source>{n} {n:image is|images are} in folders of images without defects. {n:It|They} got the verdict OK and an empty mask.</source>
        <translation>{n} 张图片位于无缺陷图片的文件夹中，已设为判定 OK 并赋予空掩膜。</translation>
    </message>
    <message>
        <source>The images are in folders without names of verdicts, so the part of each file name before its last _ became the verdict.</source>
        <translation>图片所在的文件夹名不是判定，因此将每个文件名中最后一个“_”之前的部分作为判定。</translation>
    </message>
    <message>
        <source>The folders train and test were not imported as the data split, because train holds no defects.</source>
        <translation>未采用 train 和 test 文件夹作为数据划分，因为 train 中没有缺陷。</translation>
    </message>
    <message>
        <source>The masks are black and white: values from {n} on were taken as the defect.</source>
        <translation>掩膜为黑白图片：值不小于 {n} 的像素视为缺陷。</translation>
    </message>
    <message>
        <source>the file has {n} {n:page|pages}; save each mask as a file of one page</source>
        <translation>该文件有 {n} 页；请将每个掩膜另存为单页文件</translation>
    </message>
    <message>
        <source>the file holds no array of class IDs</source>
        <translation>文件中没有类别 ID 数组</translation>
    </message>
    <message>
        <source>the array has {shape} values; save each mask as a file of its own</source>
        <translation>数组含有 {shape} 个值；请将每个掩膜保存为单独的文件</translation>
    </message>
    <message>
        <source>the file holds several arrays ({names}); save each mask as a file of its own</source>
        <translation>文件含有多个数组（{names}）；请将每个掩膜保存为单独的文件</translation>
    </message>
    <message>
        <source>none of its annotations has a shape</source>
        <translation>其中没有任何标注带有形状</translation>
    </message>
    <message>
        <source>the number after the box is no confidence; rotated boxes are read as four points</source>
        <translation>边界框后面的数字不是置信度；旋转框须以四个点表示</translation>
    </message>
    <message>
        <source>images or annotations are missing in the file</source>
        <translation>文件中缺少图片或标注条目</translation>
    </message>
    <message>
        <source>the columns {names} of the table are not understood; give them the titles class, xmin, ymin, xmax, ymax</source>
        <translation>不理解表格的列 {names}；请将标题改为 class、xmin、ymin、xmax、ymax</translation>
    </message>
    <message>
        <source>it is not clear which column holds the verdict ({names}); give it the title verdict</source>
        <translation>不清楚哪一列是判定（{names}）；请将其标题改为 verdict</translation>
    </message>
    <message>
        <source>the table has several columns without titles; give them titles such as image and verdict</source>
        <translation>表格有多列但没有标题；请添加标题，例如 image 和 verdict</translation>
    </message>
    <message>
        <source>“{text}” is not a verdict</source>
        <translation>“{text}”不是判定</translation>
    </message>
    <message>
        <source>the number of coordinates is odd</source>
        <translation>坐标个数为奇数</translation>
    </message>
    <message>
        <source>the run lengths do not match the size of the mask</source>
        <translation>游程长度与掩膜尺寸不符</translation>
    </message>
    <message>
        <source>{n} {name} are not part of {format} files.</source>
        <translation>{format} 文件不包含：{name}（{n}）。</translation>
    </message>
    <message>
        <source>the name of the image is longer than {n} bytes</source>
        <translation>图片的文件名超过 {n} 字节</translation>
    </message>
    <message>
        <source>the label was drawn on {w} × {h} pixels, but the image is {width} × {height}</source>
        <translation>标注绘制于 {w} × {h} 像素上，而图片为 {width} × {height}</translation>
    </message>
    <message>
        <source>a shape has no label</source>
        <translation>有一个形状没有标签</translation>
    </message>
    <message>
        <source>the file has more than {n} different labels</source>
        <translation>文件中的不同标签超过 {n} 个</translation>
    </message>
    <message>
        <source>a coordinate is not a valid number</source>
        <translation>坐标不是有效的数字</translation>
    </message>
    <message>
        <source>there are no points</source>
        <translation>没有点</translation>
    </message>
    <message>
        <source>a polygon needs three points</source>
        <translation>多边形至少需要三个点</translation>
    </message>
    <message>
        <source>the mask is missing</source>
        <translation>缺少掩膜</translation>
    </message>
    <message>
        <source>the mask is {w} × {h} pixels, but the image is {width} × {height}</source>
        <translation>掩膜为 {w} × {h} 像素，而图片为 {width} × {height}</translation>
    </message>
    <message>
        <source>the file is a {mode} image, not a mask</source>
        <translation>文件为 {mode} 图片，不是掩膜</translation>
    </message>
    <message>
        <source>the values are not integers from 0</source>
        <translation>值不是从 0 开始的整数</translation>
    </message>
    <message>
        <source>no value reaches the threshold {n}; the largest is {m}</source>
        <translation>没有值达到阈值 {n}；最大值为 {m}</translation>
    </message>
    <message>
        <source>the file holds many gray values, like a photo; if it is a mask, set a threshold</source>
        <translation>文件含有许多灰度值，像是照片；如果是掩膜，请设置阈值</translation>
    </message>
    <message>
        <source>the file holds many gray values, like a photo</source>
        <translation>文件含有许多灰度值，像是照片</translation>
    </message>
    <message>
        <source>the file holds values up to {n}, but IDs end at {m}; if every value is one defect, import with a class name</source>
        <translation>文件中的值最大为 {n}，而 ID 最大为 {m}；如果每个值代表一处缺陷，请指定类别名称导入</translation>
    </message>
    <message>
        <source>the file holds more than {n} colors, like a photo</source>
        <translation>文件含有超过 {n} 种颜色，像是照片</translation>
    </message>
    <message>
        <source>the image {key} has another label in this import</source>
        <translation>图片 {key} 在本次导入中已有另一个标注</translation>
    </message>
    <message>
        <source>the image is missing, and the embedded one cannot be read: {why}</source>
        <translation>图片缺失，且内嵌的图片无法读取：{why}</translation>
    </message>
    <message>
        <source>the image {path} is outside of the imported folder and is not read</source>
        <translation>图片 {path} 在导入的文件夹之外，未读取</translation>
    </message>
    <message>
        <source>all its coordinates are from 0 to 1, so they seem to be fractions of the image&apos;s width and height</source>
        <translation>所有坐标都在 0 到 1 之间，看起来是相对图片宽度和高度的比例值</translation>
    </message>
    <message>
        <source>{file} became the label of {image}, the only image of its name, which is in the folder of another part; check it</source>
        <translation>{file} 已作为 {image} 的标注，这是唯一同名的图片，但位于另一个零件的文件夹中；请检查</translation>
    </message>
    <message>
        <source>the file lists the image twice, with different sizes, so its labels may be those of two images</source>
        <translation>该文件两次列出此图片且尺寸不同，其标注可能属于两张图片</translation>
    </message>
    <message>
        <source>{n} of {total} masks mark more than half of the image as defect ({share}% on average). If the defects are the dark parts of the masks, invert them</source>
        <translation>{total} 个掩膜中有 {n} 个把一半以上的图片标为缺陷（平均 {share}%）。如果掩膜中的暗部才是缺陷，请反转掩膜</translation>
    </message>
    <message>
        <source>its images would have the keys of those of the source {name}; opening the project for writing renames it</source>
        <translation>其中的图片会与来源 {name} 的图片使用相同的键；以可写方式打开项目时会将其重命名</translation>
    </message>
    <message>
        <source>another program has the file open, or this user may not read it</source>
        <translation>另一个程序打开了该文件，或者当前用户无权读取它</translation>
    </message>
    <message>
        <source>the color ({color}) is not in use</source>
        <translation>颜色（{color}）未被使用</translation>
    </message>
    <message>
        <source>by its name it holds predictions of a model; import it alone if they are labels</source>
        <translation>按名称，它包含模型的预测；如果它们是标注，请单独导入</translation>
    </message>
    <message>
        <source>{n} {n:file is a colored copy or shows|files are colored copies or show} numbered objects, and the {n:mask|masks} that {n:it belongs|they belong} to {n:is|are} missing</source>
        <translation>{n} 个文件是彩色副本或显示对象编号，但缺少它们所属的掩膜</translation>
    </message>
    <message>
        <source>{n} {n:archive|archives} in the folder, such as {first}, {n:was|were} not unpacked. Labels in {n:it|them} are not imported.</source>
        <translation>文件夹中的 {n} 个压缩包（例如 {first}）未解压，其中的标注不会导入。</translation>
    </message>
    <message>
        <source>none of the colors of the masks is black, so the background is unknown; add a list of the colors, such as class_dict.csv</source>
        <translation>掩膜中没有黑色，因此无法确定背景；请添加颜色列表，例如 class_dict.csv</translation>
    </message>
    <message>
        <source>{n} {n:color of smoothed edges was|colors of smoothed edges were} taken for the nearest color of an area.</source>
        <translation>平滑边缘的 {n} 种颜色已归入最接近的区域颜色。</translation>
    </message>
    <message>
        <source>the color ({color}) is not listed in {file}</source>
        <translation>颜色（{color}）未列在 {file} 中</translation>
    </message>
    <message>
        <source>the mask has the class IDs {ids}, which this project does not have</source>
        <translation>掩膜含有此项目没有的类别 ID：{ids}</translation>
    </message>
    <message>
        <source>the mask has the class IDs {ids}, which are not listed in {file}</source>
        <translation>掩膜含有未列在 {file} 中的类别 ID：{ids}</translation>
    </message>
    <message>
        <source>the file is compressed with losses and is not clearly black and white, so its values cannot be trusted</source>
        <translation>文件经过有损压缩且不是明确的黑白图片，因此其数值不可信</translation>
    </message>
    <message>
        <source>Values of masks that no class list explains: {ids}, in up to {n} {n:mask|masks}.</source>
        <translation>掩膜中有类别列表未说明的值：{ids}，最多涉及 {n} 个掩膜。</translation>
    </message>
    <message>
        <source>other masks may be those of its image as well; answer the question about it</source>
        <translation>它的图片也可能对应其他掩膜；请先回答相关问题</translation>
    </message>
    <message>
        <source>The folders of masks belong to the folders of images in their order.</source>
        <translation>掩膜文件夹按顺序对应图片文件夹。</translation>
    </message>
    <message>
        <source>Masks and images with equal numbers belong together.</source>
        <translation>编号相同的掩膜和图片相互对应。</translation>
    </message>
    <message>
        <source>The masks belong to the images in the order of their numbers, which start elsewhere.</source>
        <translation>掩膜与图片的起始编号不同，按编号顺序相互对应。</translation>
    </message>
    <message>
        <source>Masks belong to the images with all words of their names, as “a_mask_2” to “a_2”.</source>
        <translation>掩膜属于名称含有其全部词语的图片，例如“a_mask_2”属于“a_2”。</translation>
    </message>
    <message>
        <source>Masks belong to the images with a part of their names, as “a_mask_2” to “a”.</source>
        <translation>掩膜属于名称是其一部分的图片，例如“a_mask_2”属于“a”。</translation>
    </message>
    <message>
        <source>The masks in “{masks}” belong to the images in “{images}”.</source>
        <translation>“{masks}”中的掩膜属于“{images}”中的图片。</translation>
    </message>
    <message>
        <source>The masks in “{masks}” belong to the {suffix} images.</source>
        <translation>“{masks}”中的掩膜属于 {suffix} 图片。</translation>
    </message>
    <message>
        <source>The values that no class list explains ({ids}) are classes of their own.</source>
        <translation>类别列表中没有说明的值（{ids}）各成为一个类别。</translation>
    </message>
    <message>
        <source>The areas of the values that no class list explains ({ids}) are ignored.</source>
        <translation>类别列表中没有说明的值（{ids}）所在的区域将被忽略。</translation>
    </message>
    <message>
        <source>Files that are masks by their name or by their content only are images.</source>
        <translation>仅从名称或仅从内容看是掩膜的文件是图片。</translation>
    </message>
    <message>
        <source>Files that are masks by their name or by their content only are masks.</source>
        <translation>仅从名称或仅从内容看是掩膜的文件是掩膜。</translation>
    </message>
    <message>
        <source>local_contrast must be from 0 to {n}</source>
        <translation>local_contrast 必须在 0 至 {n} 之间</translation>
    </message>
    <message>
        <source>low and high must be numbers, and low must not be above high</source>
        <translation>low 和 high 必须为数字，且 low 不得大于 high</translation>
    </message>
    <message>
        <source>the pattern is not valid ({error})</source>
        <translation>表达式无效（{error}）</translation>
    </message>
    <message>
        <source>matching the name {key} takes too long</source>
        <translation>匹配名称 {key} 耗时太长</translation>
    </message>
    <message>
        <source>the tables are not those of an index</source>
        <translation>数据表与索引不符</translation>
    </message>
    <message>
        <source>a row is damaged</source>
        <translation>有一行已损坏</translation>
    </message>
    <message>
        <source>a region is too large</source>
        <translation>有一个区域太大</translation>
    </message>
    <message>
        <source>the pixels of a region do not fill its bounding box</source>
        <translation>有一个区域的像素未填满其外接矩形</translation>
    </message>
    <message>
        <source>a region is outside of the image</source>
        <translation>有一个区域在图片之外</translation>
    </message>
    <message>
        <source>a region has no pixels</source>
        <translation>有一个区域没有像素</translation>
    </message>
    <message>
        <source>{name} predicted, nothing labeled</source>
        <translation>预测有 {name}，未标注</translation>
    </message>
    <message>
        <source>{name} predicted, labeled as good</source>
        <translation>预测有 {name}，标注为良品</translation>
    </message>
    <message>
        <source>{name} labeled, not predicted</source>
        <translation>标注了 {name}，未预测到</translation>
    </message>
    <message>
        <source>{said} predicted, {labelled} labeled</source>
        <translation>预测为 {said}，标注为 {labelled}</translation>
    </message>
    <message>
        <source>{said} predicted, verdict {labelled}</source>
        <translation>预测为 {said}，判定为 {labelled}</translation>
    </message>
    <message>
        <source>Unsure about 1 region</source>
        <translation>有 1 个区域不确定</translation>
    </message>
    <message>
        <source>Unsure about {n} regions</source>
        <translation>有 {n} 个区域不确定</translation>
    </message>
    <message>
        <source>Unsure whether {said} or {other}</source>
        <translation>不确定是 {said} 还是 {other}</translation>
    </message>
    <message>
        <source>Possibly {name}; only {n} {n:image of it is|images of it are} labeled</source>
        <translation>可能是 {name}；其已标注图片只有 {n} 张</translation>
    </message>
    <message>
        <source>Probably {name}</source>
        <translation>最可能是 {name}</translation>
    </message>
    <message>
        <source>Contains a spot similar to labeled defects</source>
        <translation>含有与已标注缺陷相似的区域</translation>
    </message>
    <message>
        <source>Unlike all labeled images</source>
        <translation>与所有已标注图片都不同</translation>
    </message>
    <message>
        <source>Unlike the training images: unlike score {n}, limit 1</source>
        <translation>与训练图片不同：差异分数 {n}，上限 1</translation>
    </message>
    <message>
        <source>Representative of about {n} similar {n:image|images}</source>
        <translation>可代表约 {n} 张相似图片</translation>
    </message>
    <message>
        <source>Different from the images above</source>
        <translation>与列表中靠前的图片不同</translation>
    </message>
    <message>
        <source>No defects predicted</source>
        <translation>未预测到缺陷</translation>
    </message>
    <message>
        <source>Similar to labeled images</source>
        <translation>与已标注图片相似</translation>
    </message>
    <message>
        <source>the import</source>
        <translation>导入内容</translation>
    </message>
    <message>
        <source>the removed images</source>
        <translation>已移除的图片</translation>
    </message>
    <message>
        <source>the merged labels</source>
        <translation>合并的标注</translation>
    </message>
    <message>
        <source>suggestions</source>
        <translation>预标注</translation>
    </message>
    <message>
        <source>the run</source>
        <translation>训练记录</translation>
    </message>
    <message>
        <source>the images of the inbox</source>
        <translation>收件箱的图片</translation>
    </message>
    <message>
        <source>{first}, {rest}</source>
        <translation>{first}，{rest}</translation>
    </message>
    <message>
        <source>{first}; {rest}</source>
        <translation>{first}；{rest}</translation>
    </message>
    <message>
        <source>{first} {rest}</source>
        <translation>{first}{rest}</translation>
    </message>
    <message>
        <source>The performance is unknown, because none of the validation or test images can be used: {why}.</source>
        <translation>性能未知，因为没有可用的验证或测试图片：{why}。</translation>
    </message>
    <message>
        <source>Measured with this export on {n} test {n:image, which was|images, which were} not used for training or for any choice.</source>
        <translation>用此模型包在 {n} 张测试图片上测得；这些图片未用于训练，也未用于任何选择。</translation>
    </message>
    <message>
        <source>Measured with this export on {n} test {n:image, which was|images, which were} not used for training. The operating point was chosen on {n:it|them}, so the metrics are slightly optimistic.</source>
        <translation>用此模型包在 {n} 张测试图片上测得；这些图片未用于训练，但工作点是按它们选择的，因此指标略偏乐观。</translation>
    </message>
    <message>
        <source>Measured with this export on {n} validation {n:image, which was|images, which were} not used for training. Weights and thresholds were chosen on {n:it|them}, so the metrics are slightly optimistic.</source>
        <translation>用此模型包在 {n} 张验证图片上测得；这些图片未用于训练，但权重和阈值是按它们选择的，因此指标略偏乐观。</translation>
    </message>
    <message>
        <source>No defects are predicted although the images contain defects. Train longer or label more defects. The metrics are not meaningful.</source>
        <translation>图片上有缺陷，但模型没有检出任何缺陷。请延长训练或标注更多缺陷。指标没有意义。</translation>
    </message>
    <message>
        <source>brightness {n}%, expected {low}% to {high}%</source>
        <translation>亮度 {n}%，预期 {low}% 至 {high}%</translation>
    </message>
    <message>
        <source>contrast {n}%, expected {low}% to {high}%</source>
        <translation>对比度 {n}%，预期 {low}% 至 {high}%</translation>
    </message>
    <message>
        <source>saturated pixels {n}%, expected {low}% to {high}%</source>
        <translation>饱和像素 {n}%，预期 {low}% 至 {high}%</translation>
    </message>
    <message>
        <source>color {n}%, expected {low}% to {high}%</source>
        <translation>色彩 {n}%，预期 {low}% 至 {high}%</translation>
    </message>
    <message>
        <source>This model has no unlike score: an image of another surface whose brightness, contrast, sharpness, color and size are usual is not recognized as unlike the training images.</source>
        <translation>此模型没有差异分数：亮度、对比度、清晰度、颜色和尺寸正常的其他表面的图片，不会被识别为与训练图片不符。</translation>
    </message>
    <message>
        <source>This model compares no image with the training images: one that is unlike them is not recognized.</source>
        <translation>此模型不会将图片与训练图片比较：无法识别与训练图片不符的图片。</translation>
    </message>
    <message>
        <source>only {n} {n:part|parts}, at least {m} are needed</source>
        <translation>只有 {n} 个零件，至少需要 {m} 个</translation>
    </message>
    <message>
        <source>only {n} {n:part has|parts have} such a label, at least {m} are needed</source>
        <translation>只有 {n} 个零件有此标注，至少需要 {m} 个</translation>
    </message>
    <message>
        <source>only {n} {n:part|parts} with defective images and {k} with good ones, at least {m} of each are needed</source>
        <translation>只有 {n} 个零件有缺陷图片、{k} 个有良品图片，各至少需要 {m} 个</translation>
    </message>
    <message>
        <source>Intervals are 95% CI with the part as the unit; none is stated below {n} parts, or {n} parts with such a label (“no CI”).</source>
        <translation>区间为以零件为单位的 95% 置信区间；少于 {n} 个零件，或有此标注的零件少于 {n} 个时，不给出区间（“无置信区间”）。</translation>
    </message>
    <message>
        <source>Measured with this export on {n} validation {n:image, which was|images, which were} not used for training. The weights and the temperature were chosen on {n:it|them}, so the metrics are slightly optimistic.</source>
        <translation>用此导出在 {n} 张未用于训练的验证图片上测得。权重和温度是在这些图片上选定的，因此指标略偏乐观。</translation>
    </message>
    <message>
        <source>the reference has only {n} {n:hour|hours}, at least {m} are needed</source>
        <translation>参考时段只有 {n} 小时，至少需要 {m} 小时</translation>
    </message>
    <message>
        <source>only {n} {n:image|images}, at least {m} are needed</source>
        <translation>只有 {n} 张图片，至少需要 {m} 张</translation>
    </message>
    <message>
        <source>A value is marked with * if it is out of the range that is expected by the reference.</source>
        <translation>超出参考时段预期范围的值用 * 标出。</translation>
    </message>
    <message>
        <source>The ranges hold together with 95%: without any change, about 1 of 20 such tables has a mark. The unit is the image; how much hours differ without a change is measured between the hours of the reference. Periods with fewer than {n} images are not compared.</source>
        <translation>这些范围合起来的置信水平为 95%：没有变化时，大约 20 张这样的表中有 1 张带标记。统计单位是图片；没有变化时各小时相差多少，由参考时段各小时之间的差异测得。少于 {n} 张图片的时段不比较。</translation>
    </message>
    <message>
        <source>The metrics of verdicts with fewer than {n} images or {m} parts are not reliable: {names}.</source>
        <translation>图片少于 {n} 张或零件少于 {m} 个的判定，其指标不可靠：{names}。</translation>
    </message>
    <message>
        <source>{n} {n:image has|images have} no objects in the label files. {n:It counts as an image|They count as images} without defects.</source>
        <translation>{n} 张图片在标注文件中没有对象，视为没有缺陷的图片。</translation>
    </message>
    <message>
        <source>{n} {n:image has|images have} no label. {n:It counts as an image|They count as images} without defects.</source>
        <translation>{n} 张图片没有标注，视为没有缺陷的图片。</translation>
    </message>
    <message>
        <source>the folder of the image says that it has no defects, but its label has some</source>
        <translation>图片所在的文件夹表明它没有缺陷，但其标注中有缺陷</translation>
    </message>
    <message>
        <source>it has only predictions, drafts or canceled annotations</source>
        <translation>它只有预测、草稿或已取消的标注</translation>
    </message>
    <message>
        <source>{file} may label the image and was not read, so it is not known whether the image has no defects</source>
        <translation>{file} 可能标注了该图片但未被读取，因此不知道图片是否没有缺陷</translation>
    </message>
    <message>
        <source>it may label an image, but was not read as {format}</source>
        <translation>它可能标注了图片，但未作为 {format} 读取</translation>
    </message>
    <message>
        <source>its verdict is “{verdict}”, but it has defects</source>
        <translation>其判定为“{verdict}”，但有缺陷</translation>
    </message>
    <message>
        <source>The area moves with the part, by up to {n} px and {angle}° from a reference image. An image in which the part is not found is {name}.</source>
        <translation>区域随零件移动，相对参考图片不超过 {n} px 和 {angle}°。找不到零件的图片为 {name}。</translation>
    </message>
    <message>
        <source>Zones that the verdict rule can name, in {where}: {names}. A region is in a zone if one of its pixels is.</source>
        <translation>{where}中判定规则可以选择的分区：{names}。区域只要有一个像素位于分区内，就属于该分区。</translation>
    </message>
    <message>
        <source>An image is {good} unless it has more regions of a kind than are permitted; of several verdicts it gets the worst: {bad}, rework, unsure.</source>
        <translation>图片判定为 {good}，除非某种区域的数量超过允许值；有多个判定时以最严重的为准，依次为：{bad}、返工、不确定。</translation>
    </message>
    <message>
        <source>At most</source>
        <translation>最多</translation>
    </message>
    <message>
        <source>Conditions</source>
        <translation>条件</translation>
    </message>
    <message>
        <source>Otherwise</source>
        <translation>否则</translation>
    </message>
    <message>
        <source>region of any class</source>
        <translation>任意类别的区域</translation>
    </message>
    <message>
        <source>of area from {size}</source>
        <translation>面积不小于 {size}</translation>
    </message>
    <message>
        <source>smaller than {size}</source>
        <translation>面积小于 {size}</translation>
    </message>
    <message>
        <source>of length from {size}</source>
        <translation>长度不小于 {size}</translation>
    </message>
    <message>
        <source>shorter than {size}</source>
        <translation>长度小于 {size}</translation>
    </message>
    <message>
        <source>of width from {size}</source>
        <translation>宽度不小于 {size}</translation>
    </message>
    <message>
        <source>narrower than {size}</source>
        <translation>宽度小于 {size}</translation>
    </message>
    <message>
        <source>of probability from {size}</source>
        <translation>概率不小于 {size}</translation>
    </message>
    <message>
        <source>nearer to the edge than {size}</source>
        <translation>距边缘小于 {size}</translation>
    </message>
    <message>
        <source>farther from the edge than {size}</source>
        <translation>距边缘不小于 {size}</translation>
    </message>
    <message>
        <source>nearer to another than {size}</source>
        <translation>与另一区域的距离小于 {size}</translation>
    </message>
    <message>
        <source>in zone {size}</source>
        <translation>位于分区 {size}</translation>
    </message>
    <message>
        <source>{one} or {other}</source>
        <translation>{one}或{other}</translation>
    </message>
    <message>
        <source>NG</source>
        <translation>NG</translation>
    </message>
    <message>
        <source>rework</source>
        <translation>返工</translation>
    </message>
    <message>
        <source>unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>{n} labeled {n:image that adjoins|images that adjoin} validation/test images in {n:its|their} series {n:is|are} left out of the training, because neighbors often show the same part.</source>
        <translation>{n} 张已标注图片在编号序列中与验证/测试图片相邻，未用于训练，因为相邻图片往往属于同一零件。</translation>
    </message>
    <message>
        <source>More than half of all pixels are predicted as defects, so the recall is not meaningful. Raise the threshold or train longer.</source>
        <translation>超过一半的像素被预测为缺陷，召回率没有意义。请提高阈值或延长训练。</translation>
    </message>
    <message>
        <source>Every good image has a false alarm, so the model does not separate good images from defective ones. Raise the threshold or train longer.</source>
        <translation>每张良品图片上都有误报，模型无法区分良品图片与有缺陷的图片。请提高阈值或延长训练。</translation>
    </message>
    <message>
        <source>All predictions have the same class although the images contain several classes. Train longer or label more defects of the other classes.</source>
        <translation>图片中有多个类别，但所有预测都是同一类别。请延长训练，或标注更多其他类别的缺陷。</translation>
    </message>
    <message>
        <source>{n} missed {n:defect|defects}</source>
        <translation>{n} 处漏检</translation>
    </message>
    <message>
        <source>{n} {n:defect|defects} with a wrong class</source>
        <translation>{n} 处缺陷类别错误</translation>
    </message>
    <message>
        <source>{n} false {n:alarm|alarms}</source>
        <translation>{n} 处误报</translation>
    </message>
    <message>
        <source>{n} {n:image shows|images show} defects of classes that this model was not trained on. They count neither as detected nor as missed.</source>
        <translation>{n} 张图片中有该模型未训练过的类别的缺陷。这些缺陷既不算检出，也不算漏检。</translation>
    </message>
    <message>
        <source>Train further</source>
        <translation>继续训练</translation>
    </message>
    <message>
        <source>sharpness {n}, expected {low} to {high}</source>
        <translation>清晰度 {n}，预期 {low} 至 {high}</translation>
    </message>
    <message>
        <source>size {n} megapixels, expected {low} to {high}</source>
        <translation>尺寸 {n} 百万像素，预期 {low} 至 {high}</translation>
    </message>
    <message>
        <source>every pixel has the value {n}</source>
        <translation>所有像素的值均为 {n}</translation>
    </message>
    <message>
        <source>the values may have {n} bits</source>
        <translation>数值的位深可能是 {n} 位</translation>
    </message>
    <message>
        <source>unlike score {n}, limit 1, highest near x {x}, y {y}</source>
        <translation>差异分数 {n}，上限 1，最高处在 x {x}、y {y} 附近</translation>
    </message>
    <message>
        <source>{n}-bit values are scaled to the range of the training images</source>
        <translation>{n} 位数值已换算到训练图片的范围</translation>
    </message>
    <message>
        <source>the image shows no structure</source>
        <translation>图片没有可识别的结构</translation>
    </message>
    <message>
        <source>the part of the reference image was not found</source>
        <translation>未找到参考图片中的零件</translation>
    </message>
    <message>
        <source>the image fits the reference image at several positions</source>
        <translation>图片在多个位置都与参考图片相符</translation>
    </message>
    <message>
        <source>the part has moved by {n} px, more than the limit of {m} px</source>
        <translation>零件移动了 {n} px，超过 {m} px 的限值</translation>
    </message>
    <message>
        <source>the part is rotated by {n}°, more than the limit of {m}°</source>
        <translation>零件旋转了 {n}°，超过 {m}° 的限值</translation>
    </message>
    <message>
        <source>the image has other proportions than the reference image</source>
        <translation>图片的长宽比与参考图片不同</translation>
    </message>
    <message>
        <source>the image has more than {n} pixels a side</source>
        <translation>图片的边长超过 {n} 像素</translation>
    </message>
    <message>
        <source>the inspection area is too small to be found</source>
        <translation>检测区域太小，无法寻找</translation>
    </message>
    <message>
        <source>the reference image looks alike at several positions or rotations</source>
        <translation>参考图片在多个位置或角度看起来相同</translation>
    </message>
    <message>
        <source>the reference image shows nothing</source>
        <translation>参考图片没有内容</translation>
    </message>
    <message>
        <source>all verdicts are the same</source>
        <translation>所有判定都相同</translation>
    </message>
    <message>
        <source>A single new part has a Dice (any defect) of at least {limit} with a probability of {probability}%.</source>
        <translation>单个新零件的 Dice（任意缺陷）以 {probability}% 的概率不低于 {limit}。</translation>
    </message>
    <message>
        <source>A statement on a single new part needs {needed} parts. Only {n} {n:part counts|parts count} in the metric.</source>
        <translation>要对单个新零件作出说明，需要 {needed} 个零件；计入该指标的只有 {n} 个。</translation>
    </message>
    <message>
        <source>Images without a labeled defect that have a false alarm.</source>
        <translation>没有标注缺陷但有误报的图片。</translation>
    </message>
    <message>
        <source>Accuracy</source>
        <translation>正确率</translation>
    </message>
    <message>
        <source>Images whose verdict is predicted correctly.</source>
        <translation>判定预测正确的图片。</translation>
    </message>
    <message>
        <source>Images with this label that are predicted correctly.</source>
        <translation>具有此标注且预测正确的图片。</translation>
    </message>
    <message>
        <source>Images with this prediction whose label is the same.</source>
        <translation>具有此预测且标注相同的图片。</translation>
    </message>
    <message>
        <source>F1</source>
        <translation>F1</translation>
    </message>
    <message>
        <source>Harmonic mean of recall and precision of a verdict.</source>
        <translation>判定的召回率与精确率的调和平均。</translation>
    </message>
    <message>
        <source>{metric}, any defect</source>
        <translation>{metric}，任意缺陷</translation>
    </message>
    <message>
        <source>{metric}, mean of classes</source>
        <translation>{metric}，各类别平均</translation>
    </message>
    <message>
        <source>{metric}, good images</source>
        <translation>{metric}，良品图片</translation>
    </message>
    <message>
        <source>{metric}, by size</source>
        <translation>{metric}，按大小</translation>
    </message>
    <message>
        <source>{metric}, {name}</source>
        <translation>{metric}，{name}</translation>
    </message>
    <message>
        <source>{n} of {m}</source>
        <translation>{n} / {m}</translation>
    </message>
    <message>
        <source>{n} {n:image|images}</source>
        <translation>{n} 张图片</translation>
    </message>
    <message>
        <source>{n} {n:image|images} of {m} {m:part|parts}</source>
        <translation>{m} 个零件的 {n} 张图片</translation>
    </message>
    <message>
        <source>95% CI {range}</source>
        <translation>95% 置信区间 {range}</translation>
    </message>
    <message>
        <source>no 95% CI: {why}</source>
        <translation>无 95% 置信区间：{why}</translation>
    </message>
    <message>
        <source>no CI</source>
        <translation>无置信区间</translation>
    </message>
    <message>
        <source>not stored</source>
        <translation>未存储</translation>
    </message>
    <message>
        <source>Not measured</source>
        <translation>未测量</translation>
    </message>
    <message>
        <source>no labels</source>
        <translation>无标注</translation>
    </message>
    <message>
        <source>no predictions</source>
        <translation>无预测</translation>
    </message>
    <message>
        <source>no good images</source>
        <translation>无良品图片</translation>
    </message>
    <message>
        <source>Any defect</source>
        <translation>任意缺陷</translation>
    </message>
    <message>
        <source>Mean of classes</source>
        <translation>各类别平均</translation>
    </message>
    <message>
        <source>Mean of verdicts</source>
        <translation>各判定平均</translation>
    </message>
    <message>
        <source>Whole model</source>
        <translation>整个模型</translation>
    </message>
    <message>
        <source>missed</source>
        <translation>漏检</translation>
    </message>
    <message>
        <source>background</source>
        <translation>背景</translation>
    </message>
    <message>
        <source>Regions by labeled (row) and predicted class (column)</source>
        <translation>按标注类别（行）和预测类别（列）统计的区域</translation>
    </message>
    <message>
        <source>{name}: {text}</source>
        <translation>{name}：{text}</translation>
    </message>
    <message>
        <source>Many defects are detected, but with a wrong class. The recall of any defect says nothing about the class: see the recall with the right class.</source>
        <translation>许多缺陷已检出，但类别错误。任意缺陷的召回率与类别无关：请查看类别正确的召回率。</translation>
    </message>
    <message>
        <source>the model has no verdict {name}</source>
        <translation>模型没有判定 {name}</translation>
    </message>
    <message>
        <source>the verdict was deleted</source>
        <translation>判定已被删除</translation>
    </message>
    <message>
        <source>{metric} {n} in 32 bits, {m} in reduced precision</source>
        <translation>{metric} 32 位时为 {n}，低精度时为 {m}</translation>
    </message>
    <message>
        <source>All images of a part are in the same split.</source>
        <translation>同一零件的所有图片都在同一划分中。</translation>
    </message>
    <message>
        <source>{n} {n:part has|parts have} images in several splits, such as `{first}`, so the metrics are too high.</source>
        <translation>{n} 个零件的图片分在多个划分中，例如 `{first}`，因此指标偏高。</translation>
    </message>
    <message>
        <source>The weights and the temperature of the probabilities were chosen on validation images, so the metrics are slightly optimistic.</source>
        <translation>权重和概率的温度是在验证图片上选定的，因此指标略偏乐观。</translation>
    </message>
    <message>
        <source>{metric}, mean of verdicts</source>
        <translation>{metric}，各判定平均</translation>
    </message>
    <message>
        <source>Same verdict</source>
        <translation>判定相同</translation>
    </message>
    <message>
        <source>Parts on which all verdicts that are compared are the same.</source>
        <translation>所比较的判定全部相同的零件。</translation>
    </message>
    <message>
        <source>Kappa</source>
        <translation>Kappa</translation>
    </message>
    <message>
        <source>Cohen&apos;s kappa, agreement beyond chance: 1 if the verdicts always agree, 0 if they agree as often as by chance. Above 0.75 agreement is good, below 0.4 poor (AIAG).</source>
        <translation>Cohen 的 Kappa 系数，即超出偶然的一致程度：始终一致为 1，与偶然一致的频率相同为 0。高于 0.75 为良好，低于 0.4 为较差（AIAG）。</translation>
    </message>
    <message>
        <source>the model was not trained by this application</source>
        <translation>该模型不是由本软件训练的</translation>
    </message>
    <message>
        <source>the record has no checksums of the images, as in earlier versions</source>
        <translation>记录中没有图片的校验和（早期版本）</translation>
    </message>
    <message>
        <source>{name} has changed</source>
        <translation>{name} 已更改</translation>
    </message>
    <message>
        <source>{name} is missing</source>
        <translation>缺少 {name}</translation>
    </message>
    <message>
        <source>the label of {name} has changed</source>
        <translation>{name} 的标注已更改</translation>
    </message>
    <message>
        <source>{n} {n:label was|labels were} added during the training, and {n:is|are} used from the beginning now.</source>
        <translation>训练期间加入了 {n} 个标注，现在从一开始就使用。</translation>
    </message>
    <message>
        <source>The training was limited by time, so that the number of steps differs.</source>
        <translation>训练受时间限制，因此训练步数不同。</translation>
    </message>
    <message>
        <source>{name} is {now}, and was {then}.</source>
        <translation>{name} 现在是 {now}，当时是 {then}。</translation>
    </message>
    <message>
        <source>Shift report</source>
        <translation>班次报告</translation>
    </message>
    <message>
        <source>{n} {n:image|images}, times of {zone}. Made with Defect Workbench {version}</source>
        <translation>{n} 张图片，时间按 {zone}。由 Defect Workbench {version} 生成</translation>
    </message>
    <message>
        <source>Rework</source>
        <translation>返工</translation>
    </message>
    <message>
        <source>Unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Unlike the training</source>
        <translation>与训练图片不同</translation>
    </message>
    <message>
        <source>{n} {n:line is|lines are} damaged and not counted.</source>
        <translation>{n} 行已损坏，未计入。</translation>
    </message>
    <message>
        <source>{n} {n:line is|lines are} of another version and not counted.</source>
        <translation>{n} 行属于其他版本，未计入。</translation>
    </message>
    <message>
        <source>{n} {n:result was|results were} delivered again and counted once.</source>
        <translation>{n} 个结果被重复发送，只计一次。</translation>
    </message>
    <message>
        <source>{n} {n:line states|lines state} no time zone; that of this table is assumed.</source>
        <translation>{n} 行没有时区，按本表的时区处理。</translation>
    </message>
    <message>
        <source>{n} {n:line is|lines are} an hour or more older than the line before: a clock was changed, or several programs have written the file.</source>
        <translation>{n} 行比前一行早一小时以上：时钟被调整过，或有多个程序写入同一文件。</translation>
    </message>
    <message>
        <source>{n} {n:image was|images were} not compared with the training images, as in earlier versions.</source>
        <translation>{n} 张图片未与训练图片比较（早期版本的结果）。</translation>
    </message>
    <message>
        <source>{n} stations are counted together: {names}. Choose one to separate them.</source>
        <translation>{n} 个工位合并计数：{names}。选择其中一个即可分开。</translation>
    </message>
    <message>
        <source>{n} models were in use: {names}. A change may be that of the model.</source>
        <translation>使用过 {n} 个模型：{names}。变化可能来自模型。</translation>
    </message>
    <message>
        <source>no line of it is the result of an image</source>
        <translation>其中没有一行是图片的结果</translation>
    </message>
    <message>
        <source>all of it belongs to the reference</source>
        <translation>全部属于参考时段</translation>
    </message>
    <message>
        <source>the reference ({first} to {last}, {n} {n:hour|hours}, {images} {images:image|images})</source>
        <translation>参考时段（{first} 至 {last}，{n} 小时，{images} 张图片）</translation>
    </message>
    <message>
        <source>Not compared: {why}.</source>
        <translation>未比较：{why}。</translation>
    </message>
    <message>
        <source>No rate differs from that of {reference} by more than chance and the differences between its hours explain.</source>
        <translation>与{reference}相比，没有任何比例的差异超出偶然性和参考时段各小时之间的差异。</translation>
    </message>
    <message>
        <source>the hour from {time}</source>
        <translation>{time} 开始的一小时</translation>
    </message>
    <message>
        <source>the shift from {time}</source>
        <translation>{time} 开始的班次</translation>
    </message>
    <message>
        <source>{rate}: {now} in {period}; by {reference}, {low} to {high} is expected{more}{model}.</source>
        <translation>{rate}：{period}为 {now}；按{reference}，预期为 {low} 至 {high}{more}{model}。</translation>
    </message>
    <message>
        <source>, and {n} more {n:value is|values are} marked</source>
        <translation>，另有 {n} 个值被标记</translation>
    </message>
    <message>
        <source>, but the model was another one ({run})</source>
        <translation>，但使用的是另一个模型（{run}）</translation>
    </message>
    <message>
        <source>From</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Shifts</source>
        <translation>班次</translation>
    </message>
    <message>
        <source>Hours</source>
        <translation>小时</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Last images that are not OK</source>
        <translation>最近的非 OK 图片</translation>
    </message>
    <message>
        <source>The last {n} of {m} hours are listed.</source>
        <translation>列出全部 {m} 个时段中最后 {n} 个。</translation>
    </message>
    <message>
        <source>Rates over time</source>
        <translation>比例随时间的变化</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Share of the images</source>
        <translation>占图片的比例</translation>
    </message>
    <message>
        <source>What was counted</source>
        <translation>计数说明</translation>
    </message>
    <message>
        <source>Gauge study</source>
        <translation>判定一致性研究</translation>
    </message>
    <message>
        <source>{name}, repeats</source>
        <translation>{name}，重复</translation>
    </message>
    <message>
        <source>{first} and {second}</source>
        <translation>{first} 与 {second}</translation>
    </message>
    <message>
        <source>Compared verdicts</source>
        <translation>所比较的判定</translation>
    </message>
    <message>
        <source>Verdict at the operating point in use. A UNet rejects an image by its verdict rule; without a rule, any predicted region rejects it.</source>
        <translation>在当前工作点上的判定。UNet 按判定规则拒收图片；没有规则时，预测出任何区域即拒收。</translation>
    </message>
    <message>
        <source>{n} {n:image|images} of {m} {m:part|parts}, {when}.</source>
        <translation>{m} 个零件的 {n} 张图片，{when}。</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>零件</translation>
    </message>
    <message>
        <source>{n} of {m} {m:part|parts} with different verdicts:</source>
        <translation>{m} 个零件中有 {n} 个判定不同：</translation>
    </message>
    <message>
        <source>{n} more</source>
        <translation>另有 {n} 个</translation>
    </message>
    <message>
        <source>No part has different verdicts.</source>
        <translation>没有判定不同的零件。</translation>
    </message>
    <message>
        <source>The model or its operating point has changed since the study.</source>
        <translation>研究之后，模型或其工作点已更改。</translation>
    </message>
    <message>
        <source>{n} of these images {n:is a training image|are training images}, so the agreement of the model is too high.</source>
        <translation>其中 {n} 张是训练图片，因此模型的一致性偏高。</translation>
    </message>
    <message>
        <source>{n} {n:image|images} could not be read, such as {first}.</source>
        <translation>{n} 张图片无法读取，例如 {first}。</translation>
    </message>
    <message>
        <source>Kappa is not stated where all verdicts are the same: such a study needs good and defective parts.</source>
        <translation>判定全部相同时不给出 Kappa：这类研究既需要良品零件，也需要缺陷零件。</translation>
    </message>
    <message>
        <source>the first line names no inspector</source>
        <translation>第一行没有检验员的姓名</translation>
    </message>
    <message>
        <source>it names {n} inspectors, too many to compare</source>
        <translation>其中有 {n} 名检验员，数量过多，无法比较</translation>
    </message>
    <message>
        <source>line {line}: {name} is no part and no image of the study</source>
        <translation>第 {line} 行：{name} 既不是本研究中的零件，也不是其中的图片</translation>
    </message>
    <message>
        <source>line {line}: {name} is none of the verdicts {known}</source>
        <translation>第 {line} 行：{name} 不属于判定 {known}</translation>
    </message>
    <message>
        <source>it has no verdicts</source>
        <translation>其中没有判定</translation>
    </message>
    <message>
        <source>{hits} of {total} defective {total:part|parts} {hits:is|are} missed: with {confidence}% confidence, at most {limit}% of all such parts are.</source>
        <translation>{total} 个缺陷零件中漏检 {hits} 个：在 {confidence}% 的置信度下，这类零件的漏检率不超过 {limit}%。</translation>
    </message>
    <message>
        <source>{hits} of {total} {total:part|parts} with good images {hits:has|have} a false alarm: with {confidence}% confidence, at most {limit}% of all such parts have one.</source>
        <translation>{total} 个有良品图片的零件中误报 {hits} 个：在 {confidence}% 的置信度下，这类零件的误报率不超过 {limit}%。</translation>
    </message>
    <message>
        <source>{hits} of {total} {total:part|parts} {hits:has|have} an error: that proves nothing.</source>
        <translation>{total} 个零件中有 {hits} 个出错：不能证明任何上限。</translation>
    </message>
    <message>
        <source>Nothing is measured: no part with a defect is among the validation/test images.</source>
        <translation>尚无测量结果：验证/测试图片中没有缺陷零件。</translation>
    </message>
    <message>
        <source>Nothing is measured: no good image is among the validation/test images.</source>
        <translation>尚无测量结果：验证/测试图片中没有良品图片。</translation>
    </message>
    <message>
        <source>That is enough for the wanted {bound}%.</source>
        <translation>已达到所需的 {bound}%。</translation>
    </message>
    <message>
        <source>To prove at most {bound}%, {n} defective {n:part|parts} without a miss {n:is|are} needed.</source>
        <translation>要证明不超过 {bound}%，需要 {n} 个无一漏检的缺陷零件。</translation>
    </message>
    <message>
        <source>To prove at most {bound}%, {n} {n:part|parts} with good images and without a false alarm {n:is|are} needed.</source>
        <translation>要证明不超过 {bound}%，需要 {n} 个有良品图片且无一误报的零件。</translation>
    </message>
    <message>
        <source>That is {n} more than now.</source>
        <translation>比现在多 {n} 个。</translation>
    </message>
    <message>
        <source>If errors stay as frequent as so far ({hits} of {total}), {n} {n:part|parts} are needed.</source>
        <translation>若错误仍像目前这样频繁（{total} 个中 {hits} 个），则需要 {n} 个零件。</translation>
    </message>
    <message>
        <source>With errors as frequent as so far, no number of parts proves it: the model has to get better first.</source>
        <translation>若错误仍像目前这样频繁，再多零件也无法证明：必须先改进模型。</translation>
    </message>
    <message>
        <source>To prove at most {bound}%, more than {most} parts are needed.</source>
        <translation>要证明不超过 {bound}%，需要 {most} 个以上的零件。</translation>
    </message>
    <message>
        <source>If errors stay as frequent as so far, more than {most} parts are needed.</source>
        <translation>若错误仍像目前这样频繁，则需要 {most} 个以上的零件。</translation>
    </message>
    <message>
        <source>A part is missed if, on one of its images with defects, none of them is detected. It has a false alarm if one of its good images has a predicted region.</source>
        <translation>零件的某张缺陷图片上没有检出任何缺陷，即为漏检。零件的某张良品图片上有预测区域，即为误报。</translation>
    </message>
    <message>
        <source>A part is missed if the verdict rule accepts one of its images with defects. It has a false alarm if the rule rejects one of its good images.</source>
        <translation>判定规则放行零件的某张缺陷图片，即为漏检。判定规则拒收零件的某张良品图片，即为误报。</translation>
    </message>
    <message>
        <source>A part is missed if one of its defective images gets the verdict of good parts. It has a false alarm if one of its good images gets another verdict or is unsure.</source>
        <translation>零件的某张缺陷图片被判定为良品，即为漏检。零件的某张良品图片得到其他判定或判定为不确定，即为误报。</translation>
    </message>
    <message>
        <source>Label one image of each of these parts and set its data split to Test, so that it is measured and not trained on. They are chosen without the model, which would prefer defects that it detects.</source>
        <translation>请标注其中每个零件的一张图片，并将其数据划分设为“测试集”，使其用于测量而不参与训练。选择时不使用模型，因为模型会偏向它能检出的缺陷。</translation>
    </message>
    <message>
        <source>The project has no image of a further part. Add images of other parts.</source>
        <translation>项目中没有其他零件的图片。请添加其他零件的图片。</translation>
    </message>
    <message>
        <source>{n} ({low}–{high})</source>
        <translation>{n}（{low}–{high}）</translation>
    </message>
    <message>
        <source>label</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>prediction</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Warning:</source>
        <translation>注意：</translation>
    </message>
    <message>
        <source>The images are in `card.html`.</source>
        <translation>图片见 `card.html`。</translation>
    </message>
    <message>
        <source>{name}: a model that detects defects in images</source>
        <translation>{name}：检测图片中缺陷的模型</translation>
    </message>
    <message>
        <source>{name}: a model that predicts a verdict for an image</source>
        <translation>{name}：预测图片判定的模型</translation>
    </message>
    <message>
        <source>Exported from run `{run}` with Defect Workbench {version}</source>
        <translation>由 Defect Workbench {version} 从训练记录 `{run}` 导出</translation>
    </message>
    <message>
        <source>Performance</source>
        <translation>性能</translation>
    </message>
    <message>
        <source>Largest errors</source>
        <translation>最严重的错误</translation>
    </message>
    <message>
        <source>Operating point</source>
        <translation>工作点</translation>
    </message>
    <message>
        <source>Export verification</source>
        <translation>一致性校验</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>Training data</source>
        <translation>训练数据</translation>
    </message>
    <message>
        <source>Training settings</source>
        <translation>训练设置</translation>
    </message>
    <message>
        <source>Limitations</source>
        <translation>局限</translation>
    </message>
    <message>
        <source>Origin</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Usage</source>
        <translation>使用方法</translation>
    </message>
    <message>
        <source>False alarms per image</source>
        <translation>每张图片的误报</translation>
    </message>
    <message>
        <source>Time per image</source>
        <translation>每张图片用时</translation>
    </message>
    <message>
        <source>{n} ms</source>
        <translation>{n} ms</translation>
    </message>
    <message>
        <source>validation</source>
        <translation>验证</translation>
    </message>
    <message>
        <source>test</source>
        <translation>测试</translation>
    </message>
    <message>
        <source>The performance is unknown, because the project has no labeled validation or test images.</source>
        <translation>没有已标注的验证或测试图片，因此性能未知。</translation>
    </message>
    <message>
        <source>Only {n} of the {m} {m:image|images} {n:was|were} evaluated within the time limit.</source>
        <translation>在时限内只评估了 {m} 张图片中的 {n} 张。</translation>
    </message>
    <message>
        <source>{n} {n:image is|images are} not included, because {n:it or its label is|they or their labels are} missing or damaged.</source>
        <translation>有 {n} 张图片未计入：图片或标注缺失或损坏。</translation>
    </message>
    <message>
        <source>{n} {n:label was|labels were} changed after the training. The current labels were used.</source>
        <translation>训练后有 {n} 个标注被修改；此处使用当前标注。</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Recall</source>
        <translation>召回率</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精确率</translation>
    </message>
    <message>
        <source>{n} validation/test {n:image as it is|images as they are} and with each change of lighting, measured at the end of the training with its thresholds. The worst of nine changes also is the least of nine metrics that vary by chance.</source>
        <translation>在训练结束时用其阈值测得：{n} 张验证/测试图片的原图和每种光照变化。九种变化中最差的一种也是九个随机波动的指标中的最小值。</translation>
    </message>
    <message>
        <source>Labeled defects that are detected: predictions of any class cover at least 10% of them.</source>
        <translation>检出的标注缺陷：任意类别的预测至少覆盖其 10%。</translation>
    </message>
    <message>
        <source>Recall, right class</source>
        <translation>召回率，类别正确</translation>
    </message>
    <message>
        <source>Labeled defects that are detected, and most of the predicted pixels on them have their class.</source>
        <translation>检出的标注缺陷，且其上大部分预测像素的类别与之相同。</translation>
    </message>
    <message>
        <source>Precision of regions</source>
        <translation>区域精确率</translation>
    </message>
    <message>
        <source>Predicted regions that touch a labeled defect of any class.</source>
        <translation>接触到任意类别的标注缺陷的预测区域。</translation>
    </message>
    <message>
        <source>Precision of regions, right class</source>
        <translation>区域精确率，类别正确</translation>
    </message>
    <message>
        <source>Predicted regions on which most of the labeled pixels have the predicted class.</source>
        <translation>其上大部分标注像素的类别与预测相同的预测区域。</translation>
    </message>
    <message>
        <source>Predicted regions that touch no labeled defect, divided by the images.</source>
        <translation>未接触标注缺陷的预测区域数除以图片数。</translation>
    </message>
    <message>
        <source>Dice</source>
        <translation>Dice</translation>
    </message>
    <message>
        <source>No image shows {names}: the performance on it is unknown.</source>
        <translation>没有含 {names} 的图片：其性能未知。</translation>
    </message>
    <message>
        <source>Size of defect</source>
        <translation>缺陷大小</translation>
    </message>
    <message>
        <source>small: {range}</source>
        <translation>小：{range}</translation>
    </message>
    <message>
        <source>medium: {range}</source>
        <translation>中：{range}</translation>
    </message>
    <message>
        <source>large: {range}</source>
        <translation>大：{range}</translation>
    </message>
    <message>
        <source>{low} {unit} and more</source>
        <translation>{low} {unit} 及以上</translation>
    </message>
    <message>
        <source>below {high} {unit}</source>
        <translation>{high} {unit} 以下</translation>
    </message>
    <message>
        <source>{low}–{high} {unit}</source>
        <translation>{low}–{high} {unit}</translation>
    </message>
    <message>
        <source>{first} ({rest})</source>
        <translation>{first}（{rest}）</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>比例</translation>
    </message>
    <message>
        <source>Twice the common pixels divided by all pixels of label and prediction, of all images together. Images without either do not count.</source>
        <translation>所有图片合计：公共像素的两倍除以标注与预测的全部像素。两者皆无的图片不计入。</translation>
    </message>
    <message>
        <source>IoU</source>
        <translation>IoU</translation>
    </message>
    <message>
        <source>Common pixels divided by the pixels of label or prediction, of all images together.</source>
        <translation>所有图片合计：公共像素除以标注或预测的像素。</translation>
    </message>
    <message>
        <source>Boundary IoU</source>
        <translation>边界 IoU</translation>
    </message>
    <message>
        <source>IoU of the pixels within 2 pixels of the edges of label and prediction: how well the outlines agree.</source>
        <translation>标注与预测边缘 2 像素以内像素的 IoU：轮廓的吻合程度。</translation>
    </message>
    <message>
        <source>Pixel precision</source>
        <translation>像素精确率</translation>
    </message>
    <message>
        <source>Predicted pixels that are labeled.</source>
        <translation>已标注的预测像素。</translation>
    </message>
    <message>
        <source>Pixel recall</source>
        <translation>像素召回率</translation>
    </message>
    <message>
        <source>Labeled pixels that are predicted.</source>
        <translation>预测到的标注像素。</translation>
    </message>
    <message>
        <source>Images with defects of which none is detected</source>
        <translation>有缺陷但一处也未检出的图片</translation>
    </message>
    <message>
        <source>Images with labeled defects, none of which is detected.</source>
        <translation>有标注缺陷但一处也未检出的图片。</translation>
    </message>
    <message>
        <source>Good images with false alarms</source>
        <translation>有误报的良品图片</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>The metrics of classes with fewer than {n} images or {m} parts are not reliable: {names}.</source>
        <translation>图片少于 {n} 张或零件少于 {m} 个的类别，其指标不可靠：{names}。</translation>
    </message>
    <message>
        <source>All</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>The table counts the most likely verdict of each image. {n} of {m} {m:image|images} {n:is|are} “{name}” and {n:needs|need} a manual check; {p} of the other {k} {k:verdict|verdicts} {p:is|are} wrong.</source>
        <translation>表中按每张图片可能性最大的判定计数。{m} 张图片中有 {n} 张为“{name}”，需要人工检查；其余 {k} 个判定中有 {p} 个错误。</translation>
    </message>
    <message>
        <source>Labeled (row), predicted (column)</source>
        <translation>标注（行）、预测（列）</translation>
    </message>
    <message>
        <source>labeled {truth}, predicted {name} ({n}%)</source>
        <translation>标注为 {truth}，预测为 {name}（{n}%）</translation>
    </message>
    <message>
        <source>Dice {n}</source>
        <translation>Dice {n}</translation>
    </message>
    <message>
        <source>part of the image</source>
        <translation>图片局部</translation>
    </message>
    <message>
        <source>If its probability is below {n}, the result is “{name}”.</source>
        <translation>其概率低于 {n} 时，结果为“{name}”。</translation>
    </message>
    <message>
        <source>A pixel is a defect if its probability reaches the threshold of its class. Regions below the minimum area are dropped.</source>
        <translation>像素的概率达到其类别的阈值时计为缺陷。小于最小面积的区域会被滤除。</translation>
    </message>
    <message>
        <source>The area within {n} px of the image border is ignored for the anomaly score and the verdict.</source>
        <translation>距图片边缘 {n} 像素以内的区域不计入异常分数和判定。</translation>
    </message>
    <message>
        <source>the class with the greatest share in the anomaly score</source>
        <translation>在异常分数中占比最大的类别</translation>
    </message>
    <message>
        <source>Value in the mask</source>
        <translation>掩膜中的值</translation>
    </message>
    <message>
        <source>Threshold</source>
        <translation>阈值</translation>
    </message>
    <message>
        <source>Min. area (px²)</source>
        <translation>最小面积（px²）</translation>
    </message>
    <message>
        <source>{n} ({area} {unit})</source>
        <translation>{n}（{area} {unit}）</translation>
    </message>
    <message>
        <source>This operating point was set manually in the evaluation.</source>
        <translation>此工作点是在评估中手动设定的。</translation>
    </message>
    <message>
        <source>This operating point was set manually in the evaluation, on {splits} images.</source>
        <translation>此工作点是在评估中按{splits}图片手动设定的。</translation>
    </message>
    <message>
        <source>This operating point was requested for the export.</source>
        <translation>此工作点是导出时指定的。</translation>
    </message>
    <message>
        <source>This operating point was requested for the export and chosen on {splits} images.</source>
        <translation>此工作点是导出时指定的，按{splits}图片选择。</translation>
    </message>
    <message>
        <source>validation and test</source>
        <translation>验证和测试</translation>
    </message>
    <message>
        <source>Each exported format was compared with the trained model on images of every kind in the project.</source>
        <translation>已将各导出格式与训练得到的模型在项目的各种图片上进行了比较。</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Included</source>
        <translation>已包含</translation>
    </message>
    <message>
        <source>Max. difference of a probability</source>
        <translation>概率的最大差值</translation>
    </message>
    <message>
        <source>Agreement</source>
        <translation>一致率</translation>
    </message>
    <message>
        <source>Images</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>no: {why}</source>
        <translation>否：{why}</translation>
    </message>
    <message>
        <source>{name} on validation/test images: {metrics}.</source>
        <translation>{name} 在验证/测试图片上：{metrics}。</translation>
    </message>
    <message>
        <source>Time from image to result in milliseconds, measured on {machine}.</source>
        <translation>从图片到结果的时间，单位毫秒，测量所用 CPU：{machine}。</translation>
    </message>
    <message>
        <source>Time from image to result in milliseconds, measured on the computer of the export.</source>
        <translation>从图片到结果的时间，单位毫秒，在导出所用的计算机上测量。</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>Image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Median</source>
        <translation>中位数</translation>
    </message>
    <message>
        <source>95th percentile</source>
        <translation>第 95 百分位</translation>
    </message>
    <message>
        <source>Network only</source>
        <translation>仅网络</translation>
    </message>
    <message>
        <source>Load time</source>
        <translation>加载时间</translation>
    </message>
    <message>
        <source>Memory (MB)</source>
        <translation>内存（MB）</translation>
    </message>
    <message>
        <source>The trained model in Paddle takes {n} ms for the first size, of which the network takes {m} ms.</source>
        <translation>训练得到的模型在 Paddle 中对第一种尺寸用时 {n} ms，其中网络 {m} ms。</translation>
    </message>
    <message>
        <source>{name}: {why}</source>
        <translation>{name}：{why}</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Validation (model selection)</source>
        <translation>验证（选择模型）</translation>
    </message>
    <message>
        <source>Test (final measurement)</source>
        <translation>测试（最终测量）</translation>
    </message>
    <message>
        <source>With {name}</source>
        <translation>含 {name}</translation>
    </message>
    <message>
        <source>Without a defect</source>
        <translation>没有缺陷</translation>
    </message>
    <message>
        <source>{n} {n:image|images} could not be used. First reason: {why}</source>
        <translation>有 {n} 张图片无法使用。第一个原因：{why}</translation>
    </message>
    <message>
        <source>Setting</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>取值</translation>
    </message>
    <message>
        <source>Reason</source>
        <translation>理由</translation>
    </message>
    <message>
        <source>{model}, quality {quality}, {n} {n:epoch|epochs}, seed {seed}.</source>
        <translation>{model}，质量：{quality}，{n} 轮，随机种子 {seed}。</translation>
    </message>
    <message>
        <source>{model}, quality {quality}, {n} {n:minute|minutes}, seed {seed}.</source>
        <translation>{model}，质量：{quality}，{n} 分钟，随机种子 {seed}。</translation>
    </message>
    <message>
        <source>{n} {n:step|steps} in {m} {m:minute|minutes}.</source>
        <translation>{m} 分钟内 {n} 步。</translation>
    </message>
    <message>
        <source>{n} {n:step|steps} in {m} {m:minute|minutes}; the training was stopped before its planned end.</source>
        <translation>{m} 分钟内 {n} 步；训练在计划结束前被停止。</translation>
    </message>
    <message>
        <source>Trained on {kind} images of {sizes} pixels. Performance on other images, for example from other cameras, lights, lenses or magnifications, was not measured.</source>
        <translation>训练图片：{kind}，{sizes} 像素。其他图片（例如其他相机、光源、镜头或放大倍数）的性能未经测量。</translation>
    </message>
    <message>
        <source>8-bit gray</source>
        <translation>8 位灰度</translation>
    </message>
    <message>
        <source>8-bit color</source>
        <translation>8 位彩色</translation>
    </message>
    <message>
        <source>16-bit gray</source>
        <translation>16 位灰度</translation>
    </message>
    <message>
        <source>16-bit color</source>
        <translation>16 位彩色</translation>
    </message>
    <message>
        <source>floating-point gray</source>
        <translation>浮点灰度</translation>
    </message>
    <message>
        <source>floating-point color</source>
        <translation>浮点彩色</translation>
    </message>
    <message>
        <source>{w} × {h}</source>
        <translation>{w} × {h}</translation>
    </message>
    <message>
        <source>{w} × {h} to {width} × {height}</source>
        <translation>{w} × {h} 至 {width} × {height}</translation>
    </message>
    <message>
        <source>Color images are converted to gray. Defects that differ only in color are not detected.</source>
        <translation>彩色图片会转换为灰度。只在颜色上有差别的缺陷无法检出。</translation>
    </message>
    <message>
        <source>The scale is unknown: areas and lengths are in pixels.</source>
        <translation>像素尺寸未知：面积和长度以像素为单位。</translation>
    </message>
    <message>
        <source>Only {n} good {n:image is|images are} among the {split} images: the rate of false alarms on good parts is not reliable.</source>
        <translation>{split}图片中只有 {n} 张良品图片：良品的误报率不可靠。</translation>
    </message>
    <message>
        <source>No good images were evaluated: the rate of false alarms on good parts is unknown.</source>
        <translation>没有评估良品图片：良品的误报率未知。</translation>
    </message>
    <message>
        <source>Defect types that were not labeled may be missed.</source>
        <translation>未标注过的缺陷类型可能漏检。</translation>
    </message>
    <message>
        <source>An image with other content is predicted as one of {names} or as “{name}”. How often this happens was not measured.</source>
        <translation>内容不同的图片会被预测为 {names} 之一或“{name}”，其比例未经测量。</translation>
    </message>
    <message>
        <source>Every image is predicted as one of {names}, even an image with other content.</source>
        <translation>每张图片都会被预测为 {names} 之一，内容不同的图片也是如此。</translation>
    </message>
    <message>
        <source>The model supports inspection. Assess the cost of missed defects before using it without manual checks.</source>
        <translation>模型用于辅助检验。在不经人工检查使用之前，请评估漏检的代价。</translation>
    </message>
    <message>
        <source>Few training images: {names}. Missed defects are most likely there.</source>
        <translation>训练图片较少：{names}。漏检最可能出现在这些类别。</translation>
    </message>
    <message>
        <source>Run `{run}`.</source>
        <translation>训练记录 `{run}`。</translation>
    </message>
    <message>
        <source>Run `{run}`, initialized from {others}.</source>
        <translation>训练记录 `{run}`，初始权重来自 {others}。</translation>
    </message>
    <message>
        <source>`{run}`, initialized from {others}</source>
        <translation>`{run}`（其初始权重来自 {others}）</translation>
    </message>
    <message>
        <source>`{run}`</source>
        <translation>`{run}`</translation>
    </message>
    <message>
        <source>a run that no longer exists</source>
        <translation>已不存在的训练记录</translation>
    </message>
    <message>
        <source>Trained on {device} in {precision}, {n} parameters.</source>
        <translation>在 {device} 上以 {precision} 训练，{n} 个参数。</translation>
    </message>
    <message>
        <source>The training was resumed once.</source>
        <translation>训练继续过一次。</translation>
    </message>
    <message>
        <source>The training was resumed {n} times.</source>
        <translation>训练继续过 {n} 次。</translation>
    </message>
    <message>
        <source>{name}: {value}</source>
        <translation>{name}：{value}</translation>
    </message>
    <message>
        <source>The export needs Python 3.10 or newer and the packages in `requirements.txt`. Defect Workbench and a network connection are not needed.</source>
        <translation>此模型包需要 Python 3.10 或更新版本以及 `requirements.txt` 中的软件包；不需要 Defect Workbench，也不需要网络连接。</translation>
    </message>
    <message>
        <source>files, folders or patterns</source>
        <translation>文件、文件夹或通配符</translation>
    </message>
    <message>
        <source>also predict images that are added later</source>
        <translation>也预测之后加入的图片</translation>
    </message>
    <message>
        <source>check that the results equal the reference results</source>
        <translation>检查结果是否与参考结果一致</translation>
    </message>
    <message>
        <source>check that no file was changed</source>
        <translation>检查文件是否被修改</translation>
    </message>
    <message>
        <source>`model.json`: preprocessing and postprocessing: normalization, tiles, thresholds, areas</source>
        <translation>`model.json`：预处理与后处理：归一化、分块、阈值、面积</translation>
    </message>
    <message>
        <source>`{file}`: the network for {name}</source>
        <translation>`{file}`：{name} 的网络</translation>
    </message>
    <message>
        <source>`{file}`: the packages for {name} instead</source>
        <translation>`{file}`：改用 {name} 时的软件包</translation>
    </message>
    <message>
        <source>`inference/`, `predict.py`: the prediction program</source>
        <translation>`inference/`、`predict.py`：预测程序</translation>
    </message>
    <message>
        <source>`line/`: the self-contained ONNX model of one image size, with a reference image</source>
        <translation>`line/`：固定图片尺寸的独立 ONNX 模型及其参考图片</translation>
    </message>
    <message>
        <source>`{file}`: the model in the arrangement of {name}</source>
        <translation>`{file}`：按 {name} 的要求排列的模型文件</translation>
    </message>
    <message>
        <source>`examples/`: C++ and C# programs that run the self-contained model</source>
        <translation>`examples/`：运行独立模型的 C++ 和 C# 程序</translation>
    </message>
    <message>
        <source>`golden/`: images with reference results</source>
        <translation>`golden/`：带参考结果的图片</translation>
    </message>
    <message>
        <source>`parity.json`: the comparison with the run for each image</source>
        <translation>`parity.json`：与训练记录逐张图片的比较</translation>
    </message>
    <message>
        <source>`card.html`: this document with images of the largest errors</source>
        <translation>`card.html`：本文档，附错误最严重的图片</translation>
    </message>
    <message>
        <source>it has no validation or test images</source>
        <translation>它没有验证或测试图片</translation>
    </message>
    <message>
        <source>Evaluation of run {run}</source>
        <translation>训练记录 {run} 的评估</translation>
    </message>
    <message>
        <source>Project {project}, {date}. Made with Defect Workbench {version}</source>
        <translation>项目 {project}，{date}。由 Defect Workbench {version} 生成</translation>
    </message>
    <message>
        <source>Evaluated data</source>
        <translation>评估数据</translation>
    </message>
    <message>
        <source>Metrics</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Calibration</source>
        <translation>校准</translation>
    </message>
    <message>
        <source>Missed defects</source>
        <translation>漏检的缺陷</translation>
    </message>
    <message>
        <source>False alarms</source>
        <translation>误报</translation>
    </message>
    <message>
        <source>Images with the most errors</source>
        <translation>错误最多的图片</translation>
    </message>
    <message>
        <source>Wrong verdicts</source>
        <translation>错误的判定</translation>
    </message>
    <message>
        <source>Limits of these metrics</source>
        <translation>这些指标的局限</translation>
    </message>
    <message>
        <source>training, validation and test</source>
        <translation>训练、验证和测试</translation>
    </message>
    <message>
        <source>Training images are included, so the metrics do not apply to new images.</source>
        <translation>包含训练图片，因此这些指标不能说明对新图片的效果。</translation>
    </message>
    <message>
        <source>Weights and thresholds were chosen on validation images, so the metrics are slightly optimistic.</source>
        <translation>权重和阈值是在验证图片上选定的，因此指标略偏乐观。</translation>
    </message>
    <message>
        <source>{n} on {m} {m:image|images}</source>
        <translation>{m} 张图片上 {n} 处</translation>
    </message>
    <message>
        <source>This operating point was set for the evaluation and is not stored with the run.</source>
        <translation>此工作点仅为本次评估设定，未保存到训练记录。</translation>
    </message>
    <message>
        <source>scores</source>
        <translation>分数</translation>
    </message>
    <message>
        <source>links between shapes</source>
        <translation>形状之间的关联</translation>
    </message>
    <message>
        <source>the region has several names ({names}), and none is used</source>
        <translation>该区域有多个名称（{names}），均未采用</translation>
    </message>
    <message>
        <source>it labels the image otherwise than its last annotation, which is the one that was used</source>
        <translation>它对该图片的标注与最后一次标注不同，实际采用的是最后一次</translation>
    </message>
    <message>
        <source>In the MATLAB files the numbers start at 1, which was taken for the background.</source>
        <translation>MATLAB 文件中的编号从 1 开始，1 被当作背景。</translation>
    </message>
    <message>
        <source>it is stored as {key}, because another image has its name, or one that differs only in case</source>
        <translation>它以 {key} 为名保存，因为另一张图片与它同名，或只有大小写不同</translation>
    </message>
    <message>
        <source>flags {id}</source>
        <translation>标记 {id}</translation>
    </message>
    <message>
        <source>mask {id}</source>
        <translation>掩膜 {id}</translation>
    </message>
    <message>
        <source>it may belong to several images; answer the question about it</source>
        <translation>它可能属于多张图片；请先回答相关问题</translation>
    </message>
    <message>
        <source>it is a mask by its name or by its content only; answer the question about it</source>
        <translation>仅从名称或仅从内容看它是掩膜；请先回答相关问题</translation>
    </message>
    <message>
        <source>Only a part of {where} is inspected ({n} {n:polygon|polygons}, {share} of the image): outside of it, everything is background, and labels count neither in training nor in metrics.</source>
        <translation>{where}只检测一部分（{n} 个多边形，占图片的 {share}）：区域之外全部视为背景，标注不计入训练和指标。</translation>
    </message>
    <message>
        <source>all images without an area of their own</source>
        <translation>没有单独区域的所有图片</translation>
    </message>
    <message>
        <source>the images in {name}</source>
        <translation>{name} 中的图片</translation>
    </message>
    <message>
        <source>An image that is not rejected is {name}, for a person to decide, if its anomaly score is above {n} px².</source>
        <translation>未被拒收的图片，如果异常分数高于 {n} px²，则为 {name}，由人工判断。</translation>
    </message>
    <message>
        <source>{n} labeled {n:image|images} of {m} {m:group|groups}. Labels: revision `{revision}`; validation and test: `{hash}`.</source>
        <translation>{m} 个分组的 {n} 张已标注图片。标注版本 `{revision}`；验证和测试：`{hash}`。</translation>
    </message>
    <message>
        <source>These images were set apart before the training.</source>
        <translation>这些图片在训练前已单独留出。</translation>
    </message>
    <message>
        <source>Predicted probability</source>
        <translation>预测概率</translation>
    </message>
    <message>
        <source>Share of correct verdicts</source>
        <translation>正确判定的比例</translation>
    </message>
    <message>
        <source>Share with 95% CI</source>
        <translation>比例及 95% 置信区间</translation>
    </message>
    <message>
        <source>Mean calibration error (ECE): {n}%. Points on the diagonal are calibrated: verdicts of 80% probability are correct in 80% of the images.</source>
        <translation>平均校准误差（ECE）：{n}%。对角线上的点已校准：概率为 80% 的判定在 80% 的图片上正确。</translation>
    </message>
    <message>
        <source>in use</source>
        <translation>使用中</translation>
    </message>
    <message>
        <source>All classes at a common threshold, with the minimum areas of the operating point. The vertical line is the threshold in use.</source>
        <translation>所有类别使用同一阈值，最小面积取自工作点。竖线为使用中的阈值。</translation>
    </message>
    <message>
        <source>All classes at a common threshold, with the minimum areas of the operating point. The classes use different thresholds.</source>
        <translation>所有类别使用同一阈值，最小面积取自工作点。实际使用时各类别的阈值不同。</translation>
    </message>
    <message>
        <source>Recall and precision over the threshold</source>
        <translation>召回率和精确率随阈值的变化</translation>
    </message>
    <message>
        <source>Precision over the recall</source>
        <translation>精确率随召回率的变化</translation>
    </message>
    <message>
        <source>{name}, {n} px², max. probability {p}</source>
        <translation>{name}，{n} px²，最高概率 {p}</translation>
    </message>
    <message>
        <source>{name}, {n} px², probability {p}</source>
        <translation>{name}，{n} px²，概率 {p}</translation>
    </message>
    <message>
        <source>{n} of {m} missed {m:defect|defects}, largest first</source>
        <translation>{m} 处漏检中的 {n} 处，从大到小</translation>
    </message>
    <message>
        <source>{n} of {m} false {m:alarm|alarms}, highest probability first</source>
        <translation>{m} 处误报中的 {n} 处，按概率从高到低</translation>
    </message>
    <message>
        <source>{n} of {m} {m:image|images} with errors, worst first</source>
        <translation>{m} 张有错误的图片中的 {n} 张，最差的在前</translation>
    </message>
    <message>
        <source>{n} of {m} wrong {m:verdict|verdicts}, highest probability first</source>
        <translation>{m} 个错误判定中的 {n} 个，按概率从高到低</translation>
    </message>
    <message>
        <source>no errors</source>
        <translation>没有错误</translation>
    </message>
    <message>
        <source>detected, {n}% too large</source>
        <translation>已检出，偏大 {n}%</translation>
    </message>
    <message>
        <source>detected, {n}% too small</source>
        <translation>已检出，偏小 {n}%</translation>
    </message>
    <message>
        <source>detected, but with little overlap (Dice {n})</source>
        <translation>已检出，但重叠很少（Dice {n}）</translation>
    </message>
    <message>
        <source>errors: {n}</source>
        <translation>错误：{n}</translation>
    </message>
    <message>
        <source>None.</source>
        <translation>无。</translation>
    </message>
    <message>
        <source>The {n} {n:image shows|images show} {m} {m:part|parts}. Images of the same part are similar, so they say less about new parts than the same number of different parts.</source>
        <translation>{n} 张图片来自 {m} 个零件。同一零件的图片相似，对新零件的说明力不如同样数量的不同零件。</translation>
    </message>
    <message>
        <source>Only {m} {m:part was|parts were} evaluated. Parts that differ from {m:it|them}, for example of another lot, may give other results.</source>
        <translation>只评估了 {m} 个零件。与之不同的零件（例如其他批次）结果可能不同。</translation>
    </message>
    <message>
        <source>Only {n} labeled {n:defect was|defects were} evaluated. One more missed defect would change the recall noticeably.</source>
        <translation>只评估了 {n} 处已标注缺陷。多漏检一处就会使召回率明显变化。</translation>
    </message>
    <message>
        <source>{n} of these images {n:resembles|resemble} training images, such as `{first}`, so the metrics are too high.</source>
        <translation>其中 {n} 张图片与训练图片相似，例如 `{first}`，因此指标偏高。</translation>
    </message>
    <message>
        <source>The operating point was chosen on these images, so the metrics are slightly optimistic.</source>
        <translation>工作点是在这些图片上选定的，因此指标略偏乐观。</translation>
    </message>
    <message>
        <source>it is a model of another kind than the run it is compared with</source>
        <translation>它与所比较的训练记录不是同一种模型</translation>
    </message>
    <message>
        <source>the two runs have no validation or test images in common</source>
        <translation>两条训练记录没有共同的验证或测试图片</translation>
    </message>
    <message>
        <source>Comparison of runs {first} and {second}</source>
        <translation>训练记录 {first} 与 {second} 的比较</translation>
    </message>
    <message>
        <source>Images on which the runs differ</source>
        <translation>结果不同的图片</translation>
    </message>
    <message>
        <source>Metric</source>
        <translation>指标</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差值</translation>
    </message>
    <message>
        <source>Second run</source>
        <translation>第二条训练记录</translation>
    </message>
    <message>
        <source>better</source>
        <translation>更好</translation>
    </message>
    <message>
        <source>worse</source>
        <translation>更差</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>no clear difference</source>
        <translation>无明显差异</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>{n} ({low} to {high})</source>
        <translation>{n}（{low} 至 {high}）</translation>
    </message>
    <message>
        <source>Both runs were measured on the same {n} {split} {n:image|images} of {m} {m:part|parts}, with the current labels and each at its own operating point. Intervals are 95% CI.</source>
        <translation>两条训练记录均按当前标注在 {m} 个零件的同一批 {n} 张{split}图片上测得，各用自己的工作点。区间为 95% 置信区间。</translation>
    </message>
    <message>
        <source>{n} {n:image is|images are} left out, because one of the runs was trained on {n:it or did not evaluate it|them or did not evaluate them}.</source>
        <translation>有 {n} 张图片未计入，因为其中一条训练记录用它们训练过或未评估它们。</translation>
    </message>
    <message>
        <source>Both runs make the same errors on every image.</source>
        <translation>两条训练记录在每张图片上的错误都相同。</translation>
    </message>
    <message>
        <source>The runs differ on {n} of {k} {k:image|images}. On {m} of them, one run makes no error and the other does. These come first.</source>
        <translation>两条训练记录在 {k} 张图片中的 {n} 张上结果不同。其中 {m} 张只有一条训练记录有错误，排在最前。</translation>
    </message>
    <message>
        <source>Only {m} {m:part was|parts were} compared: too few to distinguish a difference from chance.</source>
        <translation>只比较了 {m} 个零件：太少，无法判断差异是否出于偶然。</translation>
    </message>
    <message>
        <source>With many metrics, about one difference in twenty appears clear by chance.</source>
        <translation>指标较多时，约有二十分之一的差异会因偶然而显得明显。</translation>
    </message>
    <message>
        <source>A second training with another random seed gives other metrics. A difference between two runs does not yet show a difference between their settings.</source>
        <translation>换一个随机种子再次训练会得到不同的指标。两条训练记录有差异，并不说明两组设置有差异。</translation>
    </message>
    <message>
        <source>fast</source>
        <translation>快速</translation>
    </message>
    <message>
        <source>balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>best</source>
        <translation>最佳</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>plain</source>
        <translation>普通</translation>
    </message>
    <message>
        <source>automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>horizontal flip</source>
        <translation>水平翻转</translation>
    </message>
    <message>
        <source>vertical flip</source>
        <translation>垂直翻转</translation>
    </message>
    <message>
        <source>90° rotations</source>
        <translation>90° 旋转</translation>
    </message>
    <message>
        <source>rotation</source>
        <translation>旋转</translation>
    </message>
    <message>
        <source>zoom</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>brightness</source>
        <translation>亮度</translation>
    </message>
    <message>
        <source>contrast</source>
        <translation>对比度</translation>
    </message>
    <message>
        <source>noise</source>
        <translation>噪声</translation>
    </message>
    <message>
        <source>lighting and sharpness</source>
        <translation>光照与清晰度</translation>
    </message>
    <message>
        <source>Channels</source>
        <translation>通道数</translation>
    </message>
    <message>
        <source>Full scale</source>
        <translation>满量程</translation>
    </message>
    <message>
        <source>Low value</source>
        <translation>最暗值</translation>
    </message>
    <message>
        <source>High value</source>
        <translation>最亮值</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>Standard deviation</source>
        <translation>标准差</translation>
    </message>
    <message>
        <source>Image scale</source>
        <translation>图片缩放</translation>
    </message>
    <message>
        <source>Initial run</source>
        <translation>初始训练记录</translation>
    </message>
    <message>
        <source>Pruned share</source>
        <translation>剪枝比例</translation>
    </message>
    <message>
        <source>Initial weights</source>
        <translation>初始权重</translation>
    </message>
    <message>
        <source>Encoder</source>
        <translation>编码器</translation>
    </message>
    <message>
        <source>Widths</source>
        <translation>各层宽度</translation>
    </message>
    <message>
        <source>Stem stride</source>
        <translation>首层步幅</translation>
    </message>
    <message>
        <source>Local contrast</source>
        <translation>局部对比度</translation>
    </message>
    <message>
        <source>Patch size</source>
        <translation>图块大小</translation>
    </message>
    <message>
        <source>Tile overlap</source>
        <translation>分块重叠</translation>
    </message>
    <message>
        <source>Share of patches with defects</source>
        <translation>含缺陷图块的比例</translation>
    </message>
    <message>
        <source>Dice weight</source>
        <translation>Dice 权重</translation>
    </message>
    <message>
        <source>Cross-entropy weight</source>
        <translation>交叉熵权重</translation>
    </message>
    <message>
        <source>Class weight</source>
        <translation>类别权重</translation>
    </message>
    <message>
        <source>Mirrored prediction</source>
        <translation>镜像预测</translation>
    </message>
    <message>
        <source>Minimum area</source>
        <translation>最小面积</translation>
    </message>
    <message>
        <source>Depth</source>
        <translation>深度</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>宽度</translation>
    </message>
    <message>
        <source>Input size</source>
        <translation>输入尺寸</translation>
    </message>
    <message>
        <source>Standardized input</source>
        <translation>标准化输入</translation>
    </message>
    <message>
        <source>Label smoothing</source>
        <translation>标签平滑</translation>
    </message>
    <message>
        <source>Batch size</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Weight decay</source>
        <translation>权重衰减</translation>
    </message>
    <message>
        <source>Warm-up</source>
        <translation>预热</translation>
    </message>
    <message>
        <source>Gradient clipping</source>
        <translation>梯度裁剪</translation>
    </message>
    <message>
        <source>Weight averaging (EMA)</source>
        <translation>权重滑动平均（EMA）</translation>
    </message>
    <message>
        <source>Augmentation</source>
        <translation>数据增强</translation>
    </message>
    <message>
        <source>Numeric precision</source>
        <translation>数值精度</translation>
    </message>
    <message>
        <source>Mixed precision level</source>
        <translation>混合精度级别</translation>
    </message>
    <message>
        <source>Random seed</source>
        <translation>随机种子</translation>
    </message>
    <message>
        <source>Validations</source>
        <translation>验证次数</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>工作进程</translation>
    </message>
    <message>
        <source>Profiling</source>
        <translation>性能分析</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Minutes</source>
        <translation>训练时长（分钟）</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>轮数</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Quality</source>
        <translation>质量</translation>
    </message>
    <message>
        <source>it has no labels</source>
        <translation>该图片没有标注</translation>
    </message>
    <message>
        <source>its size is {w} × {h} pixels, but the size of the current image is {width} × {height}</source>
        <translation>其尺寸为 {w} × {h} 像素，而当前图片为 {width} × {height}</translation>
    </message>
    <message>
        <source>the drive cannot replace files</source>
        <translation>该驱动器不支持替换文件</translation>
    </message>
    <message>
        <source>it is being written at this moment</source>
        <translation>该文件正在写入</translation>
    </message>
    <message>
        <source>Another program is writing its results into {folder}. Choose another folder.</source>
        <translation>另一个程序正在把结果写入 {folder}。请选择其他文件夹。</translation>
    </message>
    <message>
        <source>The results in {folder} are those of another model, {model}: they cannot be continued with this one. Choose another folder of results.</source>
        <translation>{folder} 中的结果来自另一个模型 {model}：不能用此模型继续。请选择其他结果文件夹。</translation>
    </message>
    <message>
        <source>{file} has been changed since the export was written.</source>
        <translation>{file} 在导出之后被更改。</translation>
    </message>
    <message>
        <source>{file} is missing.</source>
        <translation>缺少 {file}。</translation>
    </message>
    <message>
        <source>its sides of {n} and {m} pixels are over the limit of {k} for PNG files</source>
        <translation>其边长 {n} 和 {m} 像素超过 PNG 文件的上限 {k}</translation>
    </message>
    <message>
        <source>The engine &apos;{name}&apos; is not part of this package.</source>
        <translation>引擎“{name}”不在此安装包中。</translation>
    </message>
    <message>
        <source>The libraries of TensorRT are not installed.</source>
        <translation>未安装 TensorRT 的运行库。</translation>
    </message>
    <message>
        <source>its training is still running, and the model may change</source>
        <translation>其训练仍在进行，模型可能会改变</translation>
    </message>
    <message>
        <source>Only {n} {n:part|parts} of the validation/test images {n:counts|count} in the metric. A forecast needs at least {m}.</source>
        <translation>验证/测试图片中只有 {n} 个零件计入该指标。给出预计范围至少需要 {m} 个零件。</translation>
    </message>
    <message>
        <source>Expect Dice {low} to {high} on average over other parts, with a probability of 95%.</source>
        <translation>在其他零件上，Dice 的平均值预计为 {low} 至 {high}，概率为 95%。</translation>
    </message>
    <message>
        <source>Expect {low} to {high} correct verdicts on average over other parts, with a probability of 95%.</source>
        <translation>在其他零件上，平均预计有 {low} 至 {high} 的判定正确，概率为 95%。</translation>
    </message>
    <message>
        <source>The range to expect on other parts cannot be stated.</source>
        <translation>无法给出其他零件上的预计范围。</translation>
    </message>
    <message>
        <source>Changed lighting: worst “{change}” {value} ({points})</source>
        <translation>光照变化：最差为“{change}”，{value}（{points}）</translation>
    </message>
    <message>
        <source>{n} point</source>
        <translation>{n} 个百分点</translation>
    </message>
    <message>
        <source>{n} points</source>
        <translation>{n} 个百分点</translation>
    </message>
    <message>
        <source>Other parts and changed lighting</source>
        <translation>其他零件与光照变化</translation>
    </message>
    <message>
        <source>Changed lighting</source>
        <translation>光照变化</translation>
    </message>
    <message>
        <source>unchanged</source>
        <translation>原图</translation>
    </message>
    <message>
        <source>{change} (worst)</source>
        <translation>{change}（最差）</translation>
    </message>
    <message>
        <source>Difference in points</source>
        <translation>差值（百分点）</translation>
    </message>
    <message>
        <source>Measured at the end of the training with its thresholds, on the validation/test images of that time.</source>
        <translation>训练结束时用训练选定的阈值在当时的验证/测试图片上测得。</translation>
    </message>
    <message>
        <source>Expected on other parts</source>
        <translation>其他零件上的预计值</translation>
    </message>
    <message>
        <source>Worst changed lighting</source>
        <translation>最差的光照变化</translation>
    </message>
    <message>
        <source>{low} to {high}</source>
        <translation>{low} 到 {high}</translation>
    </message>
    <message>
        <source>cannot be stated</source>
        <translation>无法给出</translation>
    </message>
    <message>
        <source>{change} {value} ({points})</source>
        <translation>{change}：{value}（{points}）</translation>
    </message>
    <message>
        <source>Expected range and changed lighting were measured at the end of each training, on its own validation/test images.</source>
        <translation>预计范围和光照变化在各次训练结束时、在其自己的验证/测试图片上测得。</translation>
    </message>
    <message>
        <source>it is a segmentation model and predicts no verdicts</source>
        <translation>该模型用于分割，不预测判定</translation>
    </message>
    <message>
        <source>Below {n} images, the images of each part are judged by a rule that was chosen on all other parts.</source>
        <translation>图片少于 {n} 张时，每个零件的图片按在所有其他零件上选定的规则判定。</translation>
    </message>
    <message>
        <source>The rule was chosen on these images and measured on them, so on new parts the result is worse. Too few parts are labeled to measure it otherwise.</source>
        <translation>规则在这些图片上选定并在其上评估，因此在新零件上结果会更差。已标注的零件太少，无法以其他方式评估。</translation>
    </message>
    <message>
        <source>Not imported: {name} ({n}).</source>
        <translation>未导入：{name}（{n} 处）。</translation>
    </message>
    <message>
        <source>the image {path} with the panoptic segments was not found</source>
        <translation>未找到含全景分段的图片 {path}</translation>
    </message>
    <message>
        <source>the image of the panoptic segments holds {n} {n:segment|segments} that the file does not list</source>
        <translation>全景分段图片中有 {n} 个分段未列在文件中</translation>
    </message>
    <message>
        <source>the file {name} with the names of the classes cannot be used ({why})</source>
        <translation>类别名称文件 {name} 无法使用（{why}）</translation>
    </message>
    <message>
        <source>it uses aliases (*name), which are not supported</source>
        <translation>其中使用了别名（*name），不受支持</translation>
    </message>
    <message>
        <source>a class name is neither a text nor a number</source>
        <translation>有一个类别名称既不是文本也不是数字</translation>
    </message>
    <message>
        <source>it is not a number of a class followed by fractions of the image&apos;s width and height</source>
        <translation>它不是类别编号加上按图片宽高的比例值</translation>
    </message>
    <message>
        <source>the file has the name of an image, but no line is a number of a class followed by fractions of the image&apos;s width and height</source>
        <translation>文件与图片同名，但没有一行是类别编号加上按图片宽高的比例值</translation>
    </message>
    <message>
        <source>six numbers may be a triangle, or a box with its confidence and the number of a track</source>
        <translation>六个数可能是三角形，也可能是带置信度和跟踪编号的框</translation>
    </message>
    <message>
        <source>the numbers may be an outline, or a box with key points; a data.yaml with kpt_shape decides it</source>
        <translation>这些数可能是轮廓，也可能是带关键点的框；含 kpt_shape 的 data.yaml 可以确定</translation>
    </message>
    <message>
        <source>The outlines end with a number that was taken as a confidence.</source>
        <translation>轮廓末尾的数被当作置信度。</translation>
    </message>
    <message>
        <source>the image has several verdicts: {names}</source>
        <translation>图片有多个判定：{names}</translation>
    </message>
    <message>
        <source>the file is not valid XML</source>
        <translation>文件不是有效的 XML</translation>
    </message>
    <message>
        <source>the file is not valid XML; the fault is in line {n}</source>
        <translation>文件不是有效的 XML；错误在第 {n} 行</translation>
    </message>
    <message>
        <source>the row has {n} of {m} cells</source>
        <translation>该行只有 {m} 个单元格中的 {n} 个</translation>
    </message>
    <message>
        <source>the size of the image is unknown</source>
        <translation>图片尺寸未知</translation>
    </message>
    <message>
        <source>the mask is damaged</source>
        <translation>掩膜已损坏</translation>
    </message>
    <message>
        <source>{format} files cannot hold the {n:name|names} of {n} {n:class|classes}. In the export: {names}.</source>
        <translation>{format} 文件无法保存 {n} 个类别的名称。导出时使用：{names}。</translation>
    </message>
    <message>
        <source>{format} files cannot hold {n} {n:verdict|verdicts}. In the export: {names}.</source>
        <translation>{format} 文件无法保存 {n} 个判定。导出时使用：{names}。</translation>
    </message>
    <message>
        <source>{n} {n:image has another name|images have other names} in the export: {names}.</source>
        <translation>{n} 张图片在导出时使用其他名称：{names}。</translation>
    </message>
    <message>
        <source>The names of the project that exported these labels were not restored, because {path} is damaged.</source>
        <translation>由于 {path} 已损坏，未能恢复导出这些标注的项目中的名称。</translation>
    </message>
    <message>
        <source>the embedded image is damaged</source>
        <translation>内嵌图片已损坏</translation>
    </message>
    <message>
        <source>the image has several different labels: {names}; import only one of them</source>
        <translation>图片有多个不同的标注：{names}；请只导入其中一个</translation>
    </message>
    <message>
        <source>the file cannot be read</source>
        <translation>无法读取文件</translation>
    </message>
    <message>
        <source>it covers no pixel of the image</source>
        <translation>它没有覆盖图片的任何像素</translation>
    </message>
    <message>
        <source>shapes of type {kind} cannot be imported</source>
        <translation>无法导入类型为 {kind} 的形状</translation>
    </message>
    <message>
        <source>several images have the name of the file: {names}</source>
        <translation>有多张图片与该文件同名：{names}</translation>
    </message>
    <message>
        <source>{file} names the image {inside}, but has the name of {image}, whose label it became; check it</source>
        <translation>{file} 内写的图片是 {inside}，但文件名对应 {image}，已作为后者的标注；请检查</translation>
    </message>
    <message>
        <source>{file} names the image {inside} inside; the label was used for the image of its own name</source>
        <translation>{file} 内写的图片是 {inside}；标注已用于与该文件同名的图片</translation>
    </message>
    <message>
        <source>no image of the file has the id {id}</source>
        <translation>文件中没有编号为 {id} 的图片</translation>
    </message>
    <message>
        <source>several images have the id {id}: {names}</source>
        <translation>有多张图片的编号为 {id}：{names}</translation>
    </message>
    <message>
        <source>the image with the id {id} has no file name</source>
        <translation>编号为 {id} 的图片没有文件名</translation>
    </message>
    <message>
        <source>no category of the file has the id {id}</source>
        <translation>文件中没有编号为 {id} 的类别</translation>
    </message>
    <message>
        <source>the category {id} has several names: {names}</source>
        <translation>类别 {id} 有多个名称：{names}</translation>
    </message>
    <message>
        <source>a label that was not read may belong to the image ({why})</source>
        <translation>可能有未读取的标注属于该图片（{why}）</translation>
    </message>
    <message>
        <source>it is a label in another format; import it with that format</source>
        <translation>它是另一种格式的标注；请用该格式导入</translation>
    </message>
    <message>
        <source>{n} {n:image has|images have} labels in another format too, which were not read. Only those of the format {format} were imported.</source>
        <translation>{n} 张图片还有另一种格式的标注，未被读取。只导入了 {format} 格式的标注。</translation>
    </message>
    <message>
        <source>{file} is a label of the image in another format and holds defects</source>
        <translation>{file} 是该图片另一种格式的标注，其中有缺陷</translation>
    </message>
    <message>
        <source>the image file is not used</source>
        <translation>图片文件未被使用</translation>
    </message>
    <message>
        <source>this encoding is not known</source>
        <translation>未知的编码</translation>
    </message>
    <message>
        <source>the class {name} covers whole images ({n}). If it is the background or the part, leave it out</source>
        <translation>类别 {name} 覆盖了整张图片（{n} 张）。如果它是背景或零件本身，请不要导入</translation>
    </message>
    <message>
        <source>all {n} masks are empty, so every image would have no defects</source>
        <translation>全部 {n} 个掩膜都为空，所有图片都会成为无缺陷</translation>
    </message>
    <message>
        <source>{n} of {total} {total:image is|images are} black</source>
        <translation>{total} 张图片中有 {n} 张全黑</translation>
    </message>
    <message>
        <source>{n} of {total} {total:image is|images are} white</source>
        <translation>{total} 张图片中有 {n} 张全白</translation>
    </message>
    <message>
        <source>{n} of {total} {total:image has|images have} one gray value only</source>
        <translation>{total} 张图片中有 {n} 张只有一个灰度值</translation>
    </message>
    <message>
        <source>there seem to be two data sets: images of {w} × {h} pixels with the classes {a}, and of {width} × {height} with {b}</source>
        <translation>似乎混有两个数据集：{w} × {h} 像素的图片含类别 {a}，{width} × {height} 的图片含类别 {b}</translation>
    </message>
    <message>
        <source>Masks that may be inverted</source>
        <translation>可能被反转的掩膜</translation>
    </message>
    <message>
        <source>If black is the defect in the masks, import them again and invert them: workbench import PROJECT FOLDER --invert --conflicts replace.</source>
        <translation>如果掩膜中黑色是缺陷，请反转后重新导入：workbench import PROJECT FOLDER --invert --conflicts replace。</translation>
    </message>
    <message>
        <source>Classes that cover whole images</source>
        <translation>覆盖整张图片的类别</translation>
    </message>
    <message>
        <source>A class for the background or the part is no defect. Remove it, or import again without it: --ignore-class NAME.</source>
        <translation>表示背景或零件的类别不是缺陷。请删除它，或重新导入时将其排除：--ignore-class NAME。</translation>
    </message>
    <message>
        <source>Masks without any defect</source>
        <translation>没有任何缺陷的掩膜</translation>
    </message>
    <message>
        <source>Check whether the masks were read as intended. Without a defect a UNet learns nothing.</source>
        <translation>请检查掩膜是否按预期读取。没有缺陷，UNet 什么也学不到。</translation>
    </message>
    <message>
        <source>Black, white or constant images</source>
        <translation>全黑、全白或单一灰度的图片</translation>
    </message>
    <message>
        <source>Check the camera and the export of the images, or remove these images.</source>
        <translation>请检查相机和图片导出，或移除这些图片。</translation>
    </message>
    <message>
        <source>Two data sets in one project</source>
        <translation>一个项目中有两个数据集</translation>
    </message>
    <message>
        <source>If they show different products, use a project for each.</source>
        <translation>如果它们是不同的产品，请分别建立项目。</translation>
    </message>
    <message>
        <source>{n} {suffix} {n:file is|files are} not used. Convert {n:it|them} to PNG, for example with {program}.</source>
        <translation>{n} 个 {suffix} 文件未被使用。请转换为 PNG，例如使用 {program}。</translation>
    </message>
    <message>
        <source>{file}: {entry}</source>
        <translation>{file}：{entry}</translation>
    </message>
    <message>
        <source>the file is not a text file</source>
        <translation>文件不是文本文件</translation>
    </message>
    <message>
        <source>the text is not in the encoding {encoding}</source>
        <translation>文本的编码不是 {encoding}</translation>
    </message>
    <message>
        <source>annotation {id}</source>
        <translation>标注 {id}</translation>
    </message>
    <message>
        <source>image {id}</source>
        <translation>图片 {id}</translation>
    </message>
    <message>
        <source>shape {id}</source>
        <translation>形状 {id}</translation>
    </message>
    <message>
        <source>line {id}</source>
        <translation>第 {id} 行</translation>
    </message>
    <message>
        <source>row {id}</source>
        <translation>第 {id} 行</translation>
    </message>
    <message>
        <source>task {id}</source>
        <translation>任务 {id}</translation>
    </message>
    <message>
        <source>region {id}</source>
        <translation>区域 {id}</translation>
    </message>
    <message>
        <source>object {id}</source>
        <translation>对象 {id}</translation>
    </message>
    <message>
        <source>segment {id}</source>
        <translation>分割段 {id}</translation>
    </message>
    <message>
        <source>track {id}</source>
        <translation>轨迹 {id}</translation>
    </message>
    <message>
        <source>item {id}</source>
        <translation>条目 {id}</translation>
    </message>
    <message>
        <source>the file is not valid JSON</source>
        <translation>文件不是有效的 JSON</translation>
    </message>
    <message>
        <source>the file is not valid JSON; the fault is in line {n}</source>
        <translation>文件不是有效的 JSON；错误在第 {n} 行</translation>
    </message>
    <message>
        <source>the value “{key}” is missing</source>
        <translation>缺少值“{key}”</translation>
    </message>
    <message>
        <source>the encoding of the text is unclear; choose the encoding</source>
        <translation>文本编码不明确；请选择编码</translation>
    </message>
    <message>
        <source>the file is nested too deeply</source>
        <translation>文件嵌套过深</translation>
    </message>
    <message>
        <source>there is not enough memory to read it</source>
        <translation>内存不足，无法读取</translation>
    </message>
    <message>
        <source>a value is missing or of the wrong kind</source>
        <translation>缺少某个值或其类型不正确</translation>
    </message>
    <message>
        <source>the mask is black and white, but the other masks number their classes, so its class is unknown</source>
        <translation>该掩膜是黑白的，而其他掩膜用数值表示类别，因此无法确定它的类别</translation>
    </message>
    <message>
        <source>The model predicts the most likely of {names}. A temperature of {n} was fitted to its probabilities on the validation images.</source>
        <translation>模型预测 {names} 中最可能的一个。其概率的温度 {n} 在验证图片上拟合。</translation>
    </message>
    <message>
        <source>An image is {bad} if its anomaly score, the area of its regions weighted by the probability, is above {n} px²; otherwise it is {good}.</source>
        <translation>如果图片的异常分数（其区域按概率加权的面积）高于 {n} px²，则判定为 {bad}；否则判定为 {good}。</translation>
    </message>
    <message>
        <source>Measured on {n} {split} {n:image|images} of {m} {m:part|parts}, with the current labels.</source>
        <translation>在 {m} 个零件的 {n} 张{split}图片上按当前标注测得。</translation>
    </message>
    <message>
        <source>Only {n} {n:image was|images were} evaluated. The metrics are rough; where there are intervals, rely on these.</source>
        <translation>只评估了 {n} 张图片，指标较粗略；给出区间时，请以区间为准。</translation>
    </message>
    <message>
        <source>this is not an image file that can be read</source>
        <translation>这不是可读取的图片文件</translation>
    </message>
    <message>
        <source>it has {n} channels; only gray and color images can be read</source>
        <translation>它有 {n} 个通道；只能读取灰度和彩色图片</translation>
    </message>
    <message>
        <source>there are no images in this folder</source>
        <translation>此文件夹中没有图片</translation>
    </message>
    <message>
        <source>no image matches this pattern</source>
        <translation>没有图片符合此模式</translation>
    </message>
    <message>
        <source>it is being edited</source>
        <translation>该图片正在编辑</translation>
    </message>
    <message>
        <source>The window closes when the work is finished.</source>
        <translation>任务完成后窗口将关闭。</translation>
    </message>
    <message>
        <source>Testing changed lighting</source>
        <translation>正在测试光照变化</translation>
    </message>
    <message>
        <source>{value} on {n} {n:part that is|parts that are} not in the training images.</source>
        <translation>在训练图片之外的 {n} 个零件上为 {value}。</translation>
    </message>
    <message>
        <source>The metric was measured on {n} parts, but a few of them have most of the images or of the defect area. Together they count as {effective} parts. A forecast needs at least {m}.</source>
        <translation>该指标在 {n} 个零件上测得，但其中少数几个占了大部分图片或缺陷面积，合计只相当于 {effective} 个零件。给出预计范围至少需要 {m} 个零件。</translation>
    </message>
    <message>
        <source>At least {limit} of the images of a single new part have the correct verdict, with a probability of {probability}%.</source>
        <translation>单个新零件的图片中至少有 {limit} 判定正确，概率为 {probability}%。</translation>
    </message>
    <message>
        <source>These are cross-fitted metrics: each half of the parts was measured at thresholds chosen on the other half.</source>
        <translation>这些是交叉拟合的指标：每一半零件均按在另一半零件上选定的阈值评估。</translation>
    </message>
    <message>
        <source>The probabilities are calibrated: on images that did not choose the temperature, they differ by {n} points from the share of correct verdicts (ECE).</source>
        <translation>概率已校准：在未用于选定温度的图片上，概率与正确判定的比例相差 {n} 个百分点（ECE）。</translation>
    </message>
    <message>
        <source>With changed lighting ({change}) the metric is {points} points lower.</source>
        <translation>光照变化（{change}）时，指标降低 {points} 个百分点。</translation>
    </message>
    <message>
        <source>brighter</source>
        <translation>变亮</translation>
    </message>
    <message>
        <source>darker</source>
        <translation>变暗</translation>
    </message>
    <message>
        <source>brighter midtones</source>
        <translation>中间调变亮</translation>
    </message>
    <message>
        <source>darker midtones</source>
        <translation>中间调变暗</translation>
    </message>
    <message>
        <source>more contrast</source>
        <translation>对比度增强</translation>
    </message>
    <message>
        <source>less contrast</source>
        <translation>对比度减弱</translation>
    </message>
    <message>
        <source>less sharp</source>
        <translation>清晰度降低</translation>
    </message>
    <message>
        <source>uneven light</source>
        <translation>光照不均</translation>
    </message>
    <message>
        <source>more noise</source>
        <translation>噪声增加</translation>
    </message>
    <message>
        <source>Choosing thresholds</source>
        <translation>正在选择阈值</translation>
    </message>
    <message>
        <source>Measuring the speed</source>
        <translation>正在测量速度</translation>
    </message>
    <message>
        <source>The engine &apos;{name}&apos; needs {library}, which is not installed.</source>
        <translation>引擎“{name}”需要 {library}，但未安装。</translation>
    </message>
    <message>
        <source>ONNX Runtime is built without TensorRT here.</source>
        <translation>已安装的 ONNX Runtime 不含 TensorRT。</translation>
    </message>
    <message>
        <source>This CPU has no native bf16 support, so bf16 would not be faster.</source>
        <translation>此 CPU 不支持原生 bf16，使用 bf16 不会更快。</translation>
    </message>
    <message>
        <source>the classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>the verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>these are not the classes of the project</source>
        <translation>这些不是此项目的类别</translation>
    </message>
    <message>
        <source>Validation image: the run uses the label it had at the start.</source>
        <translation>验证图片：使用训练开始时的标注进行评估。</translation>
    </message>
    <message>
        <source>This class was added after the run started. It is used from the next run on.</source>
        <translation>该类别在训练开始后添加，将用于下一次训练。</translation>
    </message>
    <message>
        <source>no dominant direction, so 90° rotations are used</source>
        <translation>没有主方向，使用 90° 旋转</translation>
    </message>
    <message>
        <source>no directional structure, so any rotation is used</source>
        <translation>没有方向性，使用任意角度旋转</translation>
    </message>
    <message>
        <source>directional texture, so rotations are not used</source>
        <translation>纹理有方向，不使用旋转</translation>
    </message>
    <message>
        <source>Pretrained layers need a low learning rate.</source>
        <translation>预训练层需要较低的学习率。</translation>
    </message>
    <message>
        <source>Suitable for common GPUs. Halved automatically if GPU memory runs out.</source>
        <translation>适合常见 GPU；显存不足时自动减半。</translation>
    </message>
    <message>
        <source>Small networks converge fastest at this learning rate.</source>
        <translation>小型网络在此学习率下收敛最快。</translation>
    </message>
    <message>
        <source>With Muon, a UNet gives better results than with AdamW in the same number of steps.</source>
        <translation>步数相同时，UNet 用 Muon 的效果优于 AdamW。</translation>
    </message>
    <message>
        <source>With Muon, a small ResNet gives better results and fewer false alarms in the same time than with AdamW.</source>
        <translation>时间相同时，小型 ResNet 用 Muon 效果优于 AdamW，误报更少。</translation>
    </message>
    <message>
        <source>The learning-rate schedule follows the elapsed time, so training ends on time.</source>
        <translation>学习率按已用时间变化，确保按时结束。</translation>
    </message>
    <message>
        <source>Better or worse: the interval of the difference does not contain 0. The interval is that of a paired comparison by part; below {n} parts there is none.</source>
        <translation>更好或更差：差值的区间不包含 0。区间来自按零件的配对比较；少于 {n} 个零件时不给出。</translation>
    </message>
    <message>
        <source>Ignored 1 damaged line in results.jsonl. The images concerned are processed again.</source>
        <translation>已忽略 results.jsonl 中的 1 行损坏数据，相关图片将重新处理。</translation>
    </message>
    <message>
        <source>Ignored {count} damaged lines in results.jsonl. The images concerned are processed again.</source>
        <translation>已忽略 results.jsonl 中的 {count} 行损坏数据，相关图片将重新处理。</translation>
    </message>
    <message>
        <source>{path} is not a regular file. Choose another folder of results.</source>
        <translation>{path} 不是普通文件。请选择其他结果文件夹。</translation>
    </message>
    <message>
        <source>The first line of {path} is damaged. Choose another folder of results.</source>
        <translation>{path} 的第一行已损坏。请选择其他结果文件夹。</translation>
    </message>
    <message>
        <source>a link leads out of the folder of results</source>
        <translation>存在指向结果文件夹之外的链接</translation>
    </message>
    <message>
        <source>it is larger than {n} MB</source>
        <translation>文件大于 {n} MB</translation>
    </message>
    <message>
        <source>it cannot be opened ({why})</source>
        <translation>无法打开（{why}）</translation>
    </message>
    <message>
        <source>it is not a regular file</source>
        <translation>它不是普通文件</translation>
    </message>
    <message>
        <source>it is not valid JSON ({why})</source>
        <translation>不是有效的 JSON（{why}）</translation>
    </message>
    <message>
        <source>invalid UTF-8 at byte {n}</source>
        <translation>第 {n} 字节处不是有效的 UTF-8</translation>
    </message>
    <message>
        <source>nested too deeply</source>
        <translation>嵌套层次过深</translation>
    </message>
    <message>
        <source>a text holds the character {code}</source>
        <translation>文本包含字符 {code}</translation>
    </message>
    <message>
        <source>the number {number}... is too large</source>
        <translation>数值 {number}… 过大</translation>
    </message>
    <message>
        <source>the number {number} is too large</source>
        <translation>数值 {number} 过大</translation>
    </message>
    <message>
        <source>{text} is no number</source>
        <translation>{text} 不是数字</translation>
    </message>
    <message>
        <source>the name or the path of a source is too long</source>
        <translation>图片来源的名称或路径过长</translation>
    </message>
    <message>
        <source>a value is damaged ({why})</source>
        <translation>有一个值已损坏（{why}）</translation>
    </message>
    <message>
        <source>the name of a file is too long: {name}...</source>
        <translation>文件名过长：{name}…</translation>
    </message>
    <message>
        <source>checks.json names a file that cannot exist.</source>
        <translation>checks.json 中列出了不可能存在的文件。</translation>
    </message>
    <message>
        <source>{name} cannot be opened: {why}.</source>
        <translation>无法打开 {name}：{why}。</translation>
    </message>
    <message>
        <source>gamma must be from 0.001 to 1000</source>
        <translation>gamma 必须在 0.001 到 1000 之间</translation>
    </message>
    <message>
        <source>its {width} x {height} pixels are over the limit of {most} megapixels (the environment variable WORKBENCH_MAX_MEGAPIXELS changes it)</source>
        <translation>其尺寸 {width} x {height} 像素超过了 {most} 百万像素的上限（可用环境变量 WORKBENCH_MAX_MEGAPIXELS 修改）</translation>
    </message>
    <message>
        <source>decoded it would take {needed} MB, over the limit of {most} MB (the environment variable WORKBENCH_MAX_DECODED_MB changes it)</source>
        <translation>解码后需要 {needed} MB，超过了 {most} MB 的上限（可用环境变量 WORKBENCH_MAX_DECODED_MB 修改）</translation>
    </message>
    <message>
        <source>its {size} MB are over the limit of {limit} MB for a file</source>
        <translation>文件大小 {size} MB 超过了 {limit} MB 的上限</translation>
    </message>
    <message>
        <source>its header gives {size} pixels, but its data are {width} x {height}</source>
        <translation>文件头标明 {size} 像素，但数据为 {width} x {height}</translation>
    </message>
    <message>
        <source>the file is incomplete: the JPEG data end before the last row</source>
        <translation>文件不完整：JPEG 数据在最后一行之前结束</translation>
    </message>
    <message>
        <source>only TIFF files have pages</source>
        <translation>只有 TIFF 文件才有多页</translation>
    </message>
    <message>
        <source>Without initial weights, a plain UNet gives the best results in the same time.</source>
        <translation>没有初始权重时，相同时间内普通 UNet 效果最好。</translation>
    </message>
    <message>
        <source>Defects cover few pixels, so Dice and cross-entropy are weighted equally.</source>
        <translation>缺陷像素很少，因此 Dice 与交叉熵权重相同。</translation>
    </message>
    <message>
        <source>For wide layers, AdamW steps are 20% faster than Muon steps.</source>
        <translation>层较宽时，AdamW 每步比 Muon 快 20%。</translation>
    </message>
    <message>
        <source>there is no such setting</source>
        <translation>没有这个设置</translation>
    </message>
    <message>
        <source>must be an integer</source>
        <translation>必须是整数</translation>
    </message>
</context>
<context>
    <name>shortcuts</name>
    <message>
        <source>no shortcut</source>
        <translation>无快捷键</translation>
    </message>
    <message>
        <source>{text} ({key})</source>
        <translation>{text}（{key}）</translation>
    </message>
</context>
<context>
    <name>tools</name>
    <message>
        <source>&amp;Brush</source>
        <translation>画笔(&amp;B)</translation>
    </message>
    <message>
        <source>Brush: paint the current class; Ctrl-drag erases</source>
        <translation>画笔：涂画当前类别；按住 Ctrl 拖动为擦除</translation>
    </message>
    <message>
        <source>Ctrl erases</source>
        <translation>按住 Ctrl 擦除</translation>
    </message>
    <message>
        <source>&amp;Eraser</source>
        <translation>橡皮擦(&amp;E)</translation>
    </message>
    <message>
        <source>Eraser: remove labels</source>
        <translation>橡皮擦：清除标注</translation>
    </message>
    <message>
        <source>Removes labels</source>
        <translation>清除标注</translation>
    </message>
    <message>
        <source>&amp;Ignore brush</source>
        <translation>忽略画笔(&amp;I)</translation>
    </message>
    <message>
        <source>Ignore brush: paint areas that cannot be judged</source>
        <translation>忽略画笔：涂画无法判断的区域</translation>
    </message>
    <message>
        <source>Excluded from training and metrics</source>
        <translation>不参与训练，也不计入指标</translation>
    </message>
    <message>
        <source>Back&amp;ground brush</source>
        <translation>背景画笔(&amp;G)</translation>
    </message>
    <message>
        <source>Background brush: mark areas without defects</source>
        <translation>背景画笔：标出无缺陷的区域</translation>
    </message>
    <message>
        <source>Marks areas without defects</source>
        <translation>标出无缺陷的区域</translation>
    </message>
    <message>
        <source>&amp;Threshold brush</source>
        <translation>阈值画笔(&amp;T)</translation>
    </message>
    <message>
        <source>Magic &amp;wand</source>
        <translation>魔棒(&amp;W)</translation>
    </message>
    <message>
        <source>Hold and drag right to grow, left to shrink</source>
        <translation>按住并向右拖动扩大，向左拖动缩小</translation>
    </message>
    <message>
        <source>&amp;Crack tracer</source>
        <translation>裂纹追踪(&amp;C)</translation>
    </message>
    <message>
        <source>Crack tracer: click both ends of a thin line to trace it at its actual width</source>
        <translation>裂纹追踪：点击细线两端，按实际宽度涂画</translation>
    </message>
    <message>
        <source>Click along the line; Enter ends</source>
        <translation>沿线点击；回车结束</translation>
    </message>
    <message>
        <source>&amp;Magnetic lasso</source>
        <translation>磁性套索(&amp;M)</translation>
    </message>
    <message>
        <source>Magnetic lasso: click along the outline, it snaps to edges; Enter closes it</source>
        <translation>磁性套索：沿轮廓点击，自动贴合边缘；按回车闭合</translation>
    </message>
    <message>
        <source>Click along the outline; Enter closes it; Backspace removes the last point</source>
        <translation>沿轮廓点击；回车闭合；退格键移除上一个点</translation>
    </message>
    <message>
        <source>Box se&amp;gmentation</source>
        <translation>框选分割(&amp;G)</translation>
    </message>
    <message>
        <source>Box segmentation: drag a box around a defect, correct the preview by clicks</source>
        <translation>框选分割：在缺陷周围拖出方框，再通过点击修正预览</translation>
    </message>
    <message>
        <source>Drag a box; click adds an area, Ctrl-click removes one; Enter paints</source>
        <translation>拖出方框；点击添加，按住 Ctrl 点击移除；回车涂画</translation>
    </message>
    <message>
        <source>Click s&amp;egmentation</source>
        <translation>点击分割(&amp;E)</translation>
    </message>
    <message>
        <source>Click adds corners, drag moves them, also later, Shift-click removes them; Enter closes</source>
        <translation>点击添加顶点，拖动可随时移动顶点，按住 Shift 点击删除；回车闭合</translation>
    </message>
    <message>
        <source>Click the corners; Enter adds the polygon, or excludes it if begun with Ctrl</source>
        <translation>单击各角点，回车添加多边形；按住 Ctrl 开始则排除</translation>
    </message>
    <message>
        <source>Click a region; drag moves it; 1–9: class; Del deletes</source>
        <translation>点击区域，拖动可移动；1–9 改类别，Del 删除</translation>
    </message>
    <message>
        <source>&amp;Polygon</source>
        <translation>多边形(&amp;P)</translation>
    </message>
    <message>
        <source>Threshold brush: paint only colors or gray values similar to the start point</source>
        <translation>阈值画笔：只涂与起点颜色或灰度相近的像素</translation>
    </message>
    <message>
        <source>Drag to paint colors or gray values similar to the start point</source>
        <translation>拖动以涂抹与起点颜色或灰度相近的像素</translation>
    </message>
    <message>
        <source>Magic wand: press to select similar colors or grays, drag to set the tolerance</source>
        <translation>魔棒：按下选择颜色或灰度相近的区域，拖动调整容差</translation>
    </message>
    <message>
        <source>Click segmentation: click a defect, a network outlines it; correct it by more clicks</source>
        <translation>点击分割：点击缺陷，由网络勾画轮廓；继续点击可修正</translation>
    </message>
    <message>
        <source>Click or drag a box; more clicks add, right-click removes; Enter paints</source>
        <translation>点击或拖出方框；继续点击可添加，右键可移除；回车绘制</translation>
    </message>
    <message>
        <source>Polygon: click the corners; Enter closes it, Esc discards it</source>
        <translation>多边形：依次点击顶点；回车闭合，Esc 取消</translation>
    </message>
    <message>
        <source>&amp;Lasso</source>
        <translation>套索(&amp;L)</translation>
    </message>
    <message>
        <source>Lasso: drag around an area</source>
        <translation>套索：拖动圈出区域</translation>
    </message>
    <message>
        <source>Drag around an area</source>
        <translation>拖动圈出区域</translation>
    </message>
    <message>
        <source>Rec&amp;tangle</source>
        <translation>矩形(&amp;T)</translation>
    </message>
    <message>
        <source>Rectangle: drag from corner to corner</source>
        <translation>矩形：从一角拖到对角</translation>
    </message>
    <message>
        <source>Drag from corner to corner; Shift makes a square</source>
        <translation>从一角拖到对角；按住 Shift 为正方形</translation>
    </message>
    <message>
        <source>&amp;Ellipse</source>
        <translation>椭圆(&amp;E)</translation>
    </message>
    <message>
        <source>Ellipse: drag its bounding box; Shift makes a circle</source>
        <translation>椭圆：拖出外接框；按住 Shift 为圆</translation>
    </message>
    <message>
        <source>Drag the bounding box; Shift makes a circle</source>
        <translation>拖出外接框；按住 Shift 为圆</translation>
    </message>
    <message>
        <source>&amp;Inspection area</source>
        <translation>检测区域(&amp;I)</translation>
    </message>
    <message>
        <source>Inspection area: outside of its polygons nothing is predicted, trained or counted</source>
        <translation>检测区域：多边形之外不预测、不训练、不计数</translation>
    </message>
    <message>
        <source>&amp;Fill</source>
        <translation>填充(&amp;F)</translation>
    </message>
    <message>
        <source>Fill: assign a connected area to the current class</source>
        <translation>填充：将连通区域改为当前类别</translation>
    </message>
    <message>
        <source>Click an area of one class</source>
        <translation>点击同一类别的区域</translation>
    </message>
    <message>
        <source>Fill &amp;holes</source>
        <translation>填充孔洞(&amp;H)</translation>
    </message>
    <message>
        <source>Fill holes: click a region</source>
        <translation>填充孔洞：点击一个区域</translation>
    </message>
    <message>
        <source>Click a region; Ctrl removes the region with its holes</source>
        <translation>点击区域；按住 Ctrl 删除整个区域</translation>
    </message>
    <message>
        <source>&amp;Region</source>
        <translation>区域(&amp;R)</translation>
    </message>
    <message>
        <source>Region: click a region to move, resize, delete or reclassify it</source>
        <translation>区域：点击区域后可移动、扩大、缩小、删除或更改类别</translation>
    </message>
    <message>
        <source>Click or drag a box to accept; Ctrl rejects; 1–9, + and − change the suggestion</source>
        <translation>点击或拖框接受；按住 Ctrl 拒绝；1–9、+、− 修改预标注</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Details are in {log}.</source>
        <translation>详情见 {log}。</translation>
    </message>
    <message>
        <source>Unexpected error: {why}</source>
        <translation>意外错误：{why}</translation>
    </message>
    <message>
        <source>{number}%</source>
        <translation>{number}%</translation>
    </message>
    <message>
        <source>{s} s</source>
        <translation>{s} 秒</translation>
    </message>
    <message>
        <source>{m} min</source>
        <translation>{m} 分钟</translation>
    </message>
    <message>
        <source>{m} min {s} s</source>
        <translation>{m} 分 {s} 秒</translation>
    </message>
    <message>
        <source>{h} h {m} min</source>
        <translation>{h} 小时 {m} 分</translation>
    </message>
    <message>
        <source>{n} GB</source>
        <translation>{n} GB</translation>
    </message>
    <message>
        <source>{n} MB</source>
        <translation>{n} MB</translation>
    </message>
    <message>
        <source>{n} px</source>
        <translation>{n} px</translation>
    </message>
    <message>
        <source>({x}, {y}) µm</source>
        <translation>({x}, {y}) µm</translation>
    </message>
    <message>
        <source>{n} px²</source>
        <translation>{n} px²</translation>
    </message>
    <message>
        <source>, </source>
        <translation>、</translation>
    </message>
    <message>
        <source>Good images</source>
        <translation>良品图片</translation>
    </message>
    <message>
        <source>{train} training {train:image|images}, {held} validation {held:image|images}.</source>
        <translation>训练图片 {train} 张，验证图片 {held} 张。</translation>
    </message>
    <message>
        <source>{train} training {train:image|images}.</source>
        <translation>训练图片 {train} 张。</translation>
    </message>
    <message>
        <source>CPU</source>
        <translation>CPU</translation>
    </message>
    <message>
        <source>{device}, {precision}.</source>
        <translation>{device}，{precision}。</translation>
    </message>
    <message>
        <source>{device} ({name}), {precision}.</source>
        <translation>{device}（{name}），{precision}。</translation>
    </message>
    <message>
        <source>In each step, the CPU launches operations for {operators} ms and the GPU computes for {kernels} ms.</source>
        <translation>每个训练步中，CPU 启动运算用时 {operators} ms，GPU 计算用时 {kernels} ms。</translation>
    </message>
    <message>
        <source>Model from the file {name}.</source>
        <translation>来自文件 {name} 的模型。</translation>
    </message>
    <message>
        <source>Training ended without a usable model.</source>
        <translation>训练结束，但没有可用的模型。</translation>
    </message>
    <message>
        <source>No validation image has a defect, so there are no metrics.</source>
        <translation>验证图片都没有缺陷，因此没有指标。</translation>
    </message>
    <message>
        <source>false alarms not measured (no good validation image)</source>
        <translation>误报未测量（没有良品验证图片）</translation>
    </message>
    <message>
        <source>{n} false {n:alarm|alarms} per image</source>
        <translation>每张图片 {n} 处误报</translation>
    </message>
    <message>
        <source>cross-fitted thresholds</source>
        <translation>交叉拟合的阈值</translation>
    </message>
    <message>
        <source>There are no validation images, so there are no metrics.</source>
        <translation>没有验证图片，因此没有指标。</translation>
    </message>
    <message>
        <source>{right} of {total} validation {total:image|images} correct ({share})</source>
        <translation>{total} 张验证图片中 {right} 张判定正确（{share}）</translation>
    </message>
    <message>
        <source>The export gives exactly the same results as the run.</source>
        <translation>导出的模型与训练记录的结果完全一致。</translation>
    </message>
    <message>
        <source>The export agrees with the run on {share} of all pixels.</source>
        <translation>导出的模型与训练记录在 {share} 的像素上一致。</translation>
    </message>
    <message>
        <source>Stopped. The best model so far is kept.</source>
        <translation>已停止。目前最佳的模型已保留。</translation>
    </message>
    <message>
        <source>µm</source>
        <translation>µm</translation>
    </message>
    <message>
        <source>mm</source>
        <translation>mm</translation>
    </message>
    <message>
        <source>µm²</source>
        <translation>µm²</translation>
    </message>
    <message>
        <source>mm²</source>
        <translation>mm²</translation>
    </message>
    <message>
        <source>{n} {unit}</source>
        <translation>{n} {unit}</translation>
    </message>
    <message>
        <source>; </source>
        <translation>；</translation>
    </message>
    <message>
        <source>{text} ({note})</source>
        <translation>{text}（{note}）</translation>
    </message>
    <message>
        <source>Finished after {time}.</source>
        <translation>已完成，用时 {time}。</translation>
    </message>
    <message>
        <source>No defects detected on the validation images yet.</source>
        <translation>在验证图片上尚未检出缺陷。</translation>
    </message>
    <message>
        <source>{found} of {defects} {defects:defect|defects} detected (validation)</source>
        <translation>验证集缺陷检出 {found} / {defects}</translation>
    </message>
</context>
</TS>
