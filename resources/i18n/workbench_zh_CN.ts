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
        <source>Label surface defects, train UNet and ResNet models on this workstation, review the results and export a model for the production line. No data leaves this computer.</source>
        <translation>标注表面缺陷，在本机训练 UNet 和 ResNet，复核结果，并导出供产线使用的模型。数据不会离开这台电脑。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>Canvas</name>
    <message>
        <source>Picture</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Current image with labels. Press F1 for keyboard shortcuts.</source>
        <translation>当前图片及其标注。按 F1 查看快捷键。</translation>
    </message>
    <message>
        <source>This picture cannot be read</source>
        <translation>无法读取这张图片</translation>
    </message>
    <message>
        <source>Pictures are labelled here</source>
        <translation>在这里标注图片</translation>
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
        <translation>第 {number} / {count} 张</translation>
    </message>
</context>
<context>
    <name>CardGalleryView</name>
    <message>
        <source>What is wrong</source>
        <translation>有错之处</translation>
    </message>
</context>
<context>
    <name>ClassMergeCard</name>
    <message>
        <source>Progress of the change of classes</source>
        <translation>类别更改的进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Finish</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Take back</source>
        <translation>撤回</translation>
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
        <source>{names} – taking back</source>
        <translation>{names}：正在撤回</translation>
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
        <source>{what}: {done} of {total} masks, {time} left</source>
        <translation>{what}：已处理 {done} / {total} 个掩膜，剩余 {time}</translation>
    </message>
    <message>
        <source>{names} deleted from {n} masks. The masks before take up to {size}.</source>
        <translation>已从 {n} 个掩膜中删除{names}。更改前的掩膜最多占 {size}。</translation>
    </message>
    <message>
        <source>{names} merged into “{target}” in {n} masks. The masks before take up to {size}.</source>
        <translation>已在 {n} 个掩膜中将{names}合并到“{target}”。更改前的掩膜最多占 {size}。</translation>
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
        <source>The class it becomes</source>
        <translation>合并后的类别</translation>
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
        <source>{pixels} painted pixels, {regions} regions in {pictures} pictures, become background.</source>
        <translation>{pictures} 张图片中的 {regions} 个区域、{pixels} 个标注像素将变为背景。</translation>
    </message>
    <message>
        <source>{pixels} painted pixels, {regions} regions in {pictures} pictures, become “{target}”.</source>
        <translation>{pictures} 张图片中的 {regions} 个区域、{pixels} 个标注像素将变为“{target}”。</translation>
    </message>
    <message>
        <source>No picture holds it, so no mask changes.</source>
        <translation>没有图片用到它，因此不会改动任何掩膜。</translation>
    </message>
    <message>
        <source>You can undo this once. A backup of the current masks (about {size}) is kept until the next class change.</source>
        <translation>可撤销一次。当前掩膜的备份（约 {size}）会保留到下一次类别更改。</translation>
    </message>
</context>
<context>
    <name>ClassTable</name>
    <message>
        <source>Found</source>
        <translation>找到</translation>
    </message>
    <message>
        <source>95% CI</source>
        <translation>95% 置信区间</translation>
    </message>
    <message>
        <source>False alarms</source>
        <translation>误报</translation>
    </message>
    <message>
        <source>Dice</source>
        <translation>Dice</translation>
    </message>
    <message>
        <source>IoU</source>
        <translation>IoU</translation>
    </message>
    <message>
        <source>By class and by size</source>
        <translation>按类别和大小</translation>
    </message>
    <message>
        <source>Too few defects to group by size</source>
        <translation>缺陷太少，无法按尺寸分组</translation>
    </message>
    <message>
        <source>{hits} of {total}</source>
        <translation>{hits} / {total}</translation>
    </message>
</context>
<context>
    <name>ClassesPanel</name>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>A class is a kind of defect. Add the first one, then paint.</source>
        <translation>一个类别就是一种缺陷。先添加第一个类别，然后开始涂画。</translation>
    </message>
    <message>
        <source>Add a class</source>
        <translation>添加类别</translation>
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
        <source>Double-click or F2: rename. Click the colour: change it.</source>
        <translation>双击或按 F2 改名；点击颜色可更换颜色。</translation>
    </message>
    <message>
        <source>{pictures} pictures · {regions} regions · {pixels} pixels</source>
        <translation>{pictures} 张图片 · {regions} 个区域 · {pixels} 个像素</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>改名</translation>
    </message>
    <message>
        <source>Change colour…</source>
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
        <source>Allow painting over it</source>
        <translation>允许被覆盖</translation>
    </message>
    <message>
        <source>Lock class</source>
        <translation>锁定类别</translation>
    </message>
    <message>
        <source>Another colour…</source>
        <translation>其他颜色…</translation>
    </message>
</context>
<context>
    <name>CollapsibleSection</name>
    <message>
        <source>Fold or unfold this part</source>
        <translation>折叠或展开此部分</translation>
    </message>
</context>
<context>
    <name>ComparedRuns</name>
    <message>
        <source>Take this run away again</source>
        <translation>不再并排显示这次训练</translation>
    </message>
</context>
<context>
    <name>ConfusionTable</name>
    <message>
        <source>Confusion matrix</source>
        <translation>混淆矩阵</translation>
    </message>
    <message>
        <source>{n} pictures of {label} are judged right</source>
        <translation>{n} 张 {label} 图片判断正确</translation>
    </message>
    <message>
        <source>{n} pictures are labelled {label} and judged {said}</source>
        <translation>{n} 张图片标注为 {label}，却判断为 {said}</translation>
    </message>
    <message>
        <source>Labelled</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>The model says</source>
        <translation>模型判断</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>正确率</translation>
    </message>
    <message>
        <source>none held out</source>
        <translation>无留出图片</translation>
    </message>
</context>
<context>
    <name>ContinuousSwitch</name>
    <message>
        <source>Continuous training</source>
        <translation>持续训练</translation>
    </message>
    <message>
        <source>After the time limit, training continues with new labels until you stop it. You can export the best model at any time (Ctrl+Shift+K).</source>
        <translation>到时后用新标注继续训练，直到停止；期间可随时导出最佳模型（Ctrl+Shift+K）。</translation>
    </message>
    <message>
        <source>1 label came in</source>
        <translation>已加入 1 个标注</translation>
    </message>
    <message>
        <source>{n} labels added</source>
        <translation>已加入 {n} 个标注</translation>
    </message>
    <message>
        <source>{n} left out</source>
        <translation>{n} 个未加入</translation>
    </message>
    <message>
        <source>New image: used for training from this point</source>
        <translation>新图片：从此刻起用于训练</translation>
    </message>
    <message>
        <source>A corrected label: it is learned from since then</source>
        <translation>修正的标注：从那时起用于学习</translation>
    </message>
    <message>
        <source>Label removed: no longer used for training</source>
        <translation>标注已删除：不再用于训练</translation>
    </message>
</context>
<context>
    <name>CurveExport</name>
    <message>
        <source>Save the curves as a picture</source>
        <translation>将曲线保存为图片</translation>
    </message>
    <message>
        <source>Save the curves as a table</source>
        <translation>将曲线保存为表格</translation>
    </message>
</context>
<context>
    <name>CurveLegend</name>
    <message>
        <source>Show the whole run again (double-click on a curve)</source>
        <translation>重新显示整个训练过程（双击曲线）</translation>
    </message>
    <message>
        <source>Save the curves</source>
        <translation>保存曲线</translation>
    </message>
    <message>
        <source>As a picture (PNG)…</source>
        <translation>保存为图片（PNG）…</translation>
    </message>
    <message>
        <source>As a table (CSV)…</source>
        <translation>保存为表格（CSV）…</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
</context>
<context>
    <name>DisplayPanel</name>
    <message>
        <source>Black at</source>
        <translation>黑点</translation>
    </message>
    <message>
        <source>White at</source>
        <translation>白点</translation>
    </message>
    <message>
        <source>Gamma</source>
        <translation>伽马</translation>
    </message>
    <message>
        <source>Grey values up to this one are shown black</source>
        <translation>不高于此灰度值的像素显示为黑色</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Display presets of this project</source>
        <translation>本项目的显示预设</translation>
    </message>
    <message>
        <source>Keep…</source>
        <translation>保存…</translation>
    </message>
    <message>
        <source>Keep this display in the project under a name</source>
        <translation>以一个名称把当前显示方式保存在项目中</translation>
    </message>
    <message>
        <source>Drop</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Drop the chosen preset</source>
        <translation>删除所选预设</translation>
    </message>
    <message>
        <source>Drag the ends of what is shown; on the picture: Shift + right drag</source>
        <translation>拖动显示范围的两端；在图片上：Shift + 右键拖动</translation>
    </message>
    <message>
        <source>Invert</source>
        <translation>反相</translation>
    </message>
    <message>
        <source>Show black as white and white as black</source>
        <translation>黑显示为白，白显示为黑</translation>
    </message>
    <message>
        <source>Flat field</source>
        <translation>平场校正</translation>
    </message>
    <message>
        <source>Even out slow changes of light over the picture</source>
        <translation>消除图片上缓慢的明暗变化</translation>
    </message>
    <message>
        <source>Stretch</source>
        <translation>拉伸</translation>
    </message>
    <message>
        <source>From the darkest to the brightest values that occur</source>
        <translation>从实际出现的最暗值到最亮值</translation>
    </message>
    <message>
        <source>Grey values from this one on are shown white</source>
        <translation>不低于此灰度值的像素显示为白色</translation>
    </message>
    <message>
        <source>Above 1 lights up the dark parts</source>
        <translation>大于 1 时提亮暗部</translation>
    </message>
    <message>
        <source>Local contrast</source>
        <translation>局部对比度</translation>
    </message>
    <message>
        <source>Brings out faint structure wherever it is (CLAHE)</source>
        <translation>在各处突出微弱的结构（CLAHE）</translation>
    </message>
    <message>
        <source>Channel</source>
        <translation>通道</translation>
    </message>
    <message>
        <source>Colours</source>
        <translation>颜色</translation>
    </message>
    <message>
        <source>All colours</source>
        <translation>全部颜色</translation>
    </message>
    <message>
        <source>Grey</source>
        <translation>灰度</translation>
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
        <source>As they are</source>
        <translation>原样</translation>
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
        <source>Keep this display</source>
        <translation>保存此显示方式</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>Reset display</source>
        <translation>恢复显示</translation>
    </message>
    <message>
        <source>Show the picture as it is; sixteen bits by their usual range</source>
        <translation>按原样显示图片；16 位图片按常用灰度范围显示</translation>
    </message>
</context>
<context>
    <name>EditCommands</name>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;History</source>
        <translation>历史(&amp;H)</translation>
    </message>
    <message>
        <source>The steps made on this picture; each can be gone back to</source>
        <translation>在此图片上做过的步骤，可回到任一步</translation>
    </message>
    <message>
        <source>Copy the &amp;labels of the previous picture</source>
        <translation>复制上一张图片的标注(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Search pictures</source>
        <translation>搜索图片(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Save now</source>
        <translation>立即保存(&amp;S)</translation>
    </message>
    <message>
        <source>Everything is saved by itself within a second; this saves at once</source>
        <translation>所有内容会在一秒内自动保存；此命令立即保存</translation>
    </message>
</context>
<context>
    <name>EmptyProjectPage</name>
    <message>
        <source>Drop pictures or folders here</source>
        <translation>将图片或文件夹拖到这里</translation>
    </message>
    <message>
        <source>They are copied into the project; the originals stay as they are.</source>
        <translation>它们会被复制到项目中；原文件保持不变。</translation>
    </message>
    <message>
        <source>Add pictures…</source>
        <translation>添加图片…</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>添加文件夹…</translation>
    </message>
</context>
<context>
    <name>EmptyQueuePage</name>
    <message>
        <source>Show all pictures</source>
        <translation>显示所有图片</translation>
    </message>
    <message>
        <source>Analyzing images. The list appears when the analysis is complete.</source>
        <translation>正在分析图片，完成后显示列表。</translation>
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
    <name>EvaluationCommands</name>
    <message>
        <source>&amp;Review</source>
        <translation>审查(&amp;R)</translation>
    </message>
    <message>
        <source>Missed defects and false alarms on validation and test images; choose the detection threshold here</source>
        <translation>查看验证/测试图片上的漏检和误报，并选择检出阈值</translation>
    </message>
</context>
<context>
    <name>EvaluationNotices</name>
    <message>
        <source>No defects are predicted although the images contain defects. Train longer or label more defects. The metrics below are not meaningful.</source>
        <translation>图片上有缺陷，但模型没有检出任何缺陷。请延长训练或标注更多缺陷。以下指标没有意义。</translation>
    </message>
    <message>
        <source>More than half of all pixels are predicted as defects, so the recall is not meaningful. Raise the threshold or train longer.</source>
        <translation>超过一半的像素被预测为缺陷，召回率没有意义。请提高阈值或延长训练。</translation>
    </message>
    <message>
        <source>There is a false alarm on every good picture: the model does not tell good from bad here.</source>
        <translation>每张良品图片上都有误报：模型在这里分不清好坏。</translation>
    </message>
    <message>
        <source>The model calls everything by the same class, although there are several: it does not tell them apart.</source>
        <translation>有多个类别，但模型把一切都归为同一类：它没有区分它们。</translation>
    </message>
    <message>
        <source>{n} pictures of {parts} parts.</source>
        <translation>{parts} 个零件的 {n} 张图片。</translation>
    </message>
    <message>
        <source>The operating point was chosen on these images, so the metrics are slightly optimistic.</source>
        <translation>工作点是在这些图片上选择的，因此指标略偏高。</translation>
    </message>
    <message>
        <source>This point is being tried on these very pictures, so its figures are somewhat too good.</source>
        <translation>正在用这些图片试选此工作点，因此数字略微偏好。</translation>
    </message>
    <message>
        <source>The training chose its thresholds and its best moment on these pictures, so the figures are somewhat too good.</source>
        <translation>训练在这些图片上选择了阈值和最佳时刻，因此数字略微偏好。</translation>
    </message>
    <message>
        <source>Test pictures had no say.</source>
        <translation>测试图片没有参与选择。</translation>
    </message>
    <message>
        <source>These images were not used in training. Expect similar results on new parts.</source>
        <translation>这些图片未参与训练，新零件上的结果应与此相近。</translation>
    </message>
    <message>
        <source>Choose an operating point on the validation pictures, so that this stays true.</source>
        <translation>请在验证图片上选择工作点，这样才能保持如此。</translation>
    </message>
    <message>
        <source>Data leakage: {n} images show parts that were used in training, so the metrics are too high.</source>
        <translation>数据泄漏：{n} 张图片的零件参与过训练，指标偏高。</translation>
    </message>
    <message>
        <source>Labels changed since the training: {n}. The present ones are counted.</source>
        <translation>训练之后改过的标注：{n} 个。按现在的标注统计。</translation>
    </message>
    <message>
        <source>Pictures that could not be used: {n} ({names})</source>
        <translation>无法使用的图片：{n} 张（{names}）</translation>
    </message>
</context>
<context>
    <name>EvaluationPage</name>
    <message>
        <source>Review</source>
        <translation>审查</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Which run is reviewed</source>
        <translation>审查哪一次训练</translation>
    </message>
    <message>
        <source>Held out from learning; thresholds are chosen on these</source>
        <translation>未参与学习；阈值在这些图片上选择</translation>
    </message>
    <message>
        <source>Not used for training or any choice. These metrics are unbiased.</source>
        <translation>未参与训练和任何选择，指标无偏。</translation>
    </message>
    <message>
        <source>Count anew</source>
        <translation>重新统计</translation>
    </message>
    <message>
        <source>Recalculate after label changes; predictions are reused</source>
        <translation>标注修改后重新统计；沿用已有预测</translation>
    </message>
    <message>
        <source>Back to the picture</source>
        <translation>返回图片</translation>
    </message>
    <message>
        <source>Back to the picture (Esc)</source>
        <translation>返回图片 (Esc)</translation>
    </message>
    <message>
        <source>Validation  {n}</source>
        <translation>验证  {n}</translation>
    </message>
    <message>
        <source>Test  {n}</source>
        <translation>测试  {n}</translation>
    </message>
</context>
<context>
    <name>EvaluationPlaceholder</name>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Pictures that leak</source>
        <translation>泄漏的图片</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Looking at the held-out pictures</source>
        <translation>正在查看留出的图片</translation>
    </message>
    <message>
        <source>The model marks each picture once. What it says is kept, so the next review opens at once.</source>
        <translation>模型对每张图片只运行一次，结果会保留，下次审查立即打开。</translation>
    </message>
    <message>
        <source>No picture is held out</source>
        <translation>没有留出图片</translation>
    </message>
    <message>
        <source>All labeled images were used for training, so the quality on other images is unknown. Label images of more parts and train again; some are then used for validation.</source>
        <translation>全部已标注图片都参与了训练，无法评估其他图片上的效果。请标注更多零件的图片后重新训练，其中一部分将用于验证。</translation>
    </message>
    <message>
        <source>The held-out pictures could not be looked at</source>
        <translation>无法查看留出的图片</translation>
    </message>
    <message>
        <source>They or their labels cannot be read any more. The messages say why.</source>
        <translation>图片或其标注已无法读取。原因见消息。</translation>
    </message>
    <message>
        <source>See what the model misses</source>
        <translation>看看模型漏掉了什么</translation>
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
        <source>{n} of {total} images show the same part or the same image as training data, so the metrics would be too high. Assign these images to one group, or define a part rule for the project, then train again.</source>
        <translation>{total} 张中有 {n} 张与训练数据是同一零件或同一图片，指标会偏高。请将它们设为同一分组，或为项目定义零件规则，然后重新训练。</translation>
    </message>
    <message>
        <source>{held} is the same picture as {learned}</source>
        <translation>{held} 与 {learned} 是同一张图片</translation>
    </message>
    <message>
        <source>{held} looks like {learned}</source>
        <translation>{held} 看起来像 {learned}</translation>
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
        <source>{done} of {total}</source>
        <translation>{done} / {total}</translation>
    </message>
    <message>
        <source>{progress}, {time} left</source>
        <translation>{progress}，剩余 {time}</translation>
    </message>
</context>
<context>
    <name>ExportOptionsDialog</name>
    <message>
        <source>Export model</source>
        <translation>导出模型</translation>
    </message>
    <message>
        <source>Exactly what you saw here</source>
        <translation>与您在此看到的完全一致</translation>
    </message>
    <message>
        <source>Fewer bits: close to it, smaller, often quicker</source>
        <translation>更低精度：结果接近，文件更小，通常更快</translation>
    </message>
    <message>
        <source>What fewer bits cost is measured on labelled pictures and shown; what costs too much is left out.</source>
        <translation>低精度的代价会在已标注图片上测量并显示；代价过大的格式不会导出。</translation>
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
        <source>Give fewer false alarms</source>
        <translation>减少误报</translation>
    </message>
    <message>
        <source>Custom probability</source>
        <translation>自定义概率</translation>
    </message>
    <message>
        <source>Least probability of a defect</source>
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
        <source>A picture &amp;takes at most</source>
        <translation>每张图片最多用时(&amp;T)</translation>
    </message>
    <message>
        <source>Measured on this computer with a picture of the usual size</source>
        <translation>在本机上用常见尺寸的图片测量</translation>
    </message>
    <message>
        <source>&amp;Model card in</source>
        <translation>模型卡片语言(&amp;M)</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Choose at least one format.</source>
        <translation>请至少选择一种格式。</translation>
    </message>
</context>
<context>
    <name>ExportReport</name>
    <message>
        <source>The export</source>
        <translation>导出结果</translation>
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
        <source>Speed</source>
        <translation>速度</translation>
    </message>
    <message>
        <source>On labeled images</source>
        <translation>已标注图片上的指标</translation>
    </message>
    <message>
        <source>probability ± {most}</source>
        <translation>概率 ± {most}</translation>
    </message>
    <message>
        <source>Left out: {why}</source>
        <translation>未导出：{why}</translation>
    </message>
</context>
<context>
    <name>FileCommands</name>
    <message>
        <source>&amp;New project…</source>
        <translation>新建项目(&amp;N)…</translation>
    </message>
    <message>
        <source>&amp;Open project…</source>
        <translation>打开项目(&amp;O)…</translation>
    </message>
    <message>
        <source>Make the &amp;sample project</source>
        <translation>生成示例项目(&amp;S)</translation>
    </message>
    <message>
        <source>Add &amp;pictures…</source>
        <translation>添加图片(&amp;P)…</translation>
    </message>
    <message>
        <source>Add a &amp;folder of pictures…</source>
        <translation>添加图片文件夹(&amp;F)…</translation>
    </message>
    <message>
        <source>&amp;Look for new pictures</source>
        <translation>查找新图片(&amp;L)</translation>
    </message>
    <message>
        <source>Show the project&apos;s folde&amp;r</source>
        <translation>显示项目文件夹(&amp;R)</translation>
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
    <name>HeadlineFigures</name>
    <message>
        <source>Defects found</source>
        <translation>找到的缺陷</translation>
    </message>
    <message>
        <source>False alarms a picture</source>
        <translation>每张图片误报</translation>
    </message>
    <message>
        <source>Dice of the pixels</source>
        <translation>像素 Dice</translation>
    </message>
    <message>
        <source>A labeled defect counts as detected if predictions cover at least 10% of it. The interval is a Wilson interval.</source>
        <translation>预测覆盖标注缺陷的 10% 以上即计为检出。区间为 Wilson 区间。</translation>
    </message>
    <message>
        <source>Predicted regions that touch no labeled defect. The interval accounts for images of the same part being similar.</source>
        <translation>与任何标注缺陷都不相交的预测区域。区间已考虑同一零件图片的相似性。</translation>
    </message>
    <message>
        <source>Dice and IoU of all pictures together. Good pictures that are left empty earn nothing.</source>
        <translation>所有图片合计的 Dice 和 IoU。良品图片上什么也不标，不会得分。</translation>
    </message>
    <message>
        <source>on good pictures {rate}</source>
        <translation>良品图片上 {rate}</translation>
    </message>
    <message>
        <source>95 % sure of {range}</source>
        <translation>95 % 置信区间 {range}</translation>
    </message>
</context>
<context>
    <name>HelpCommands</name>
    <message>
        <source>&amp;Keys</source>
        <translation>快捷键(&amp;K)</translation>
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
        <source>Every stroke on this picture will be listed here, and can be gone back to.</source>
        <translation>在此图片上的每一笔都会列在这里，可随时回到任一步。</translation>
    </message>
</context>
<context>
    <name>ImageCommands</name>
    <message>
        <source>&amp;Next picture</source>
        <translation>下一张图片(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Previous picture</source>
        <translation>上一张图片(&amp;P)</translation>
    </message>
    <message>
        <source>Next &amp;unlabelled picture</source>
        <translation>下一张未标注图片(&amp;U)</translation>
    </message>
    <message>
        <source>Previous un&amp;labelled picture</source>
        <translation>上一张未标注图片(&amp;L)</translation>
    </message>
    <message>
        <source>Next picture that is no&amp;t done</source>
        <translation>下一张未完成的图片(&amp;T)</translation>
    </message>
    <message>
        <source>Next picture that cannot be &amp;read</source>
        <translation>下一张无法读取的图片(&amp;R)</translation>
    </message>
    <message>
        <source>Contact s&amp;heet</source>
        <translation>缩略图总览(&amp;H)</translation>
    </message>
    <message>
        <source>All listed pictures at a glance; judge many at once</source>
        <translation>一览所有列出的图片，可同时判定多张</translation>
    </message>
    <message>
        <source>Mark as &amp;done and next</source>
        <translation>标为完成并转到下一张(&amp;D)</translation>
    </message>
    <message>
        <source>Mark this picture done and go on</source>
        <translation>把这张图片标为完成，并转到下一张</translation>
    </message>
    <message>
        <source>Mark as not d&amp;one</source>
        <translation>标为未完成(&amp;O)</translation>
    </message>
    <message>
        <source>Takes effect at the next training. All images of the same part move together.</source>
        <translation>下次训练起生效；同一零件的所有图片一起调整。</translation>
    </message>
    <message>
        <source>&amp;Automatic</source>
        <translation>自动(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Training set</source>
        <translation>训练集(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Validation set</source>
        <translation>验证集(&amp;H)</translation>
    </message>
    <message>
        <source>T&amp;est set</source>
        <translation>测试集(&amp;T)</translation>
    </message>
    <message>
        <source>Verdict {n}</source>
        <translation>判定 {n}</translation>
    </message>
    <message>
        <source>Verdict {n}, then on</source>
        <translation>判定 {n} 并转到下一张</translation>
    </message>
</context>
<context>
    <name>ImageDelegate</name>
    <message>
        <source>cannot be read</source>
        <translation>无法读取</translation>
    </message>
</context>
<context>
    <name>ImageFilters</name>
    <message>
        <source>Which pictures are listed</source>
        <translation>列出哪些图片</translation>
    </message>
    <message>
        <source>What the pictures are sorted by</source>
        <translation>图片的排序方式</translation>
    </message>
    <message>
        <source>Greatest first</source>
        <translation>从大到小</translation>
    </message>
    <message>
        <source>What to label next</source>
        <translation>接着标注什么</translation>
    </message>
    <message>
        <source>What to label next: pictures from which the model would learn most</source>
        <translation>接着标注什么：模型能从中学到最多的图片</translation>
    </message>
    <message>
        <source>All pictures</source>
        <translation>全部图片</translation>
    </message>
    <message>
        <source>Not done yet</source>
        <translation>未完成</translation>
    </message>
    <message>
        <source>Started</source>
        <translation>已开始</translation>
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
        <source>Cannot be read</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <source>By status</source>
        <translation>按状态</translation>
    </message>
    <message>
        <source>By verdict</source>
        <translation>按判定</translation>
    </message>
    <message>
        <source>By number of classes</source>
        <translation>按类别数</translation>
    </message>
    <message>
        <source>By number of regions</source>
        <translation>按区域数</translation>
    </message>
    <message>
        <source>By painted area</source>
        <translation>按标注面积</translation>
    </message>
    <message>
        <source>By model score</source>
        <translation>按模型得分</translation>
    </message>
    <message>
        <source>By date</source>
        <translation>按日期</translation>
    </message>
</context>
<context>
    <name>ImageListModel</name>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Status</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>Classes</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Regions</source>
        <translation>区域</translation>
    </message>
    <message>
        <source>Painted pixels</source>
        <translation>标注像素</translation>
    </message>
    <message>
        <source>Model score</source>
        <translation>模型得分</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>日期</translation>
    </message>
    <message>
        <source>cannot be read</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>new</source>
        <translation>新</translation>
    </message>
    <message>
        <source>started</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>done</source>
        <translation>完成</translation>
    </message>
</context>
<context>
    <name>ImageTableView</name>
    <message>
        <source>By picture</source>
        <translation>按图片</translation>
    </message>
</context>
<context>
    <name>ImagesPanel</name>
    <message>
        <source>Pictures</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>{n} pictures</source>
        <translation>{n} 张图片</translation>
    </message>
    <message>
        <source>1 picture</source>
        <translation>1 张图片</translation>
    </message>
    <message>
        <source>{shown} of {total} pictures</source>
        <translation>{shown} / {total} 张图片</translation>
    </message>
    <message>
        <source>{pictures} · {done} done</source>
        <translation>{pictures} · 已完成 {done}</translation>
    </message>
</context>
<context>
    <name>InspectionCommands</name>
    <message>
        <source>Next re&amp;gion</source>
        <translation>下一个区域(&amp;G)</translation>
    </message>
    <message>
        <source>To the next labelled or predicted region, always at the same scale</source>
        <translation>到下一个标注或预测的区域，始终以相同比例</translation>
    </message>
    <message>
        <source>Previous regi&amp;on</source>
        <translation>上一个区域(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Measure</source>
        <translation>测量(&amp;M)</translation>
    </message>
    <message>
        <source>Measure: drag a line, read its length</source>
        <translation>测量：拖出一条线，读出长度</translation>
    </message>
    <message>
        <source>Set the scale…</source>
        <translation>设置比例…</translation>
    </message>
    <message>
        <source>How many micrometres a pixel shows</source>
        <translation>一个像素代表多少微米</translation>
    </message>
    <message>
        <source>O&amp;verview</source>
        <translation>总览(&amp;V)</translation>
    </message>
    <message>
        <source>The whole picture in a corner while only a part is in sight</source>
        <translation>只看到局部时，在角落显示整张图片</translation>
    </message>
    <message>
        <source>Show the &amp;difference to the good sample</source>
        <translation>显示与良品样本的差异(&amp;D)</translation>
    </message>
    <message>
        <source>Use as the good sa&amp;mple</source>
        <translation>用作良品样本(&amp;M)</translation>
    </message>
    <message>
        <source>Use the current image as the defect-free reference image</source>
        <translation>将当前图片设为良品参考图</translation>
    </message>
    <message>
        <source>In&amp;vert</source>
        <translation>反相(&amp;V)</translation>
    </message>
    <message>
        <source>Stretch &amp;brightness</source>
        <translation>拉伸亮度(&amp;B)</translation>
    </message>
    <message>
        <source>From the darkest to the brightest values that occur</source>
        <translation>从实际出现的最暗值到最亮值</translation>
    </message>
    <message>
        <source>&amp;Reset display</source>
        <translation>重置显示(&amp;R)</translation>
    </message>
</context>
<context>
    <name>LabelIssueBar</name>
    <message>
        <source>Correct the doubted label as the model says</source>
        <translation>按模型的说法改正存疑的标注</translation>
    </message>
    <message>
        <source>Label is right (K)</source>
        <translation>标注正确 (K)</translation>
    </message>
    <message>
        <source>Keep the label; this place is not doubted again</source>
        <translation>保留标注；此处不再提出疑问</translation>
    </message>
    <message>
        <source>To the next doubted place of this picture</source>
        <translation>到此图的下一处存疑</translation>
    </message>
    <message>
        <source>{n} of {count} (J)</source>
        <translation>第 {n}/{count} 处 (J)</translation>
    </message>
    <message>
        <source>Add it (Y)</source>
        <translation>添加 (Y)</translation>
    </message>
    <message>
        <source>Remove it (Y)</source>
        <translation>移除 (Y)</translation>
    </message>
    <message>
        <source>Make it {name} (Y)</source>
        <translation>改为{name} (Y)</translation>
    </message>
</context>
<context>
    <name>LabelNextCommands</name>
    <message>
        <source>&amp;Label next</source>
        <translation>推荐标注(&amp;W)</translation>
    </message>
    <message>
        <source>Images that would improve the model most, with the reason for each</source>
        <translation>对提升模型最有帮助的图片及推荐理由</translation>
    </message>
    <message>
        <source>Possible label &amp;errors</source>
        <translation>可能的标注错误(&amp;E)</translation>
    </message>
    <message>
        <source>Labels that a confident model contradicts, worst first</source>
        <translation>与有把握的模型相矛盾的标注，最可疑的在前</translation>
    </message>
    <message>
        <source>Use &amp;model result</source>
        <translation>采用模型结果(&amp;M)</translation>
    </message>
    <message>
        <source>Correct the doubted label as the model says</source>
        <translation>按模型的说法改正存疑的标注</translation>
    </message>
    <message>
        <source>Keep my la&amp;bel</source>
        <translation>保留我的标注(&amp;G)</translation>
    </message>
    <message>
        <source>Keep the doubted label, and do not ask again</source>
        <translation>保留存疑的标注，不再询问</translation>
    </message>
    <message>
        <source>Ne&amp;xt flagged region</source>
        <translation>下一处可疑标注(&amp;X)</translation>
    </message>
</context>
<context>
    <name>LabelNextController</name>
    <message>
        <source>Label kept. It will not be flagged again.</source>
        <translation>已保留标注，不再提示。</translation>
    </message>
    <message>
        <source>Take back</source>
        <translation>撤回</translation>
    </message>
</context>
<context>
    <name>LabelQueueHeader</name>
    <message>
        <source>Label next</source>
        <translation>接着标注</translation>
    </message>
    <message>
        <source>What to label next: pictures from which the model would learn most</source>
        <translation>接着标注什么：模型能从中学到最多的图片</translation>
    </message>
    <message>
        <source>Label errors</source>
        <translation>标注错误</translation>
    </message>
    <message>
        <source>Labels that a confident model contradicts</source>
        <translation>与有把握的模型相矛盾的标注</translation>
    </message>
    <message>
        <source>Back to all pictures</source>
        <translation>回到所有图片</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Analyze more images</source>
        <translation>分析更多图片</translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>重新查看</translation>
    </message>
    <message>
        <source>Looking at pictures…</source>
        <translation>正在查看图片…</translation>
    </message>
    <message>
        <source>Nothing has been looked at yet.</source>
        <translation>还没有查看任何图片。</translation>
    </message>
    <message>
        <source>Looking at pictures: {done} of {total}</source>
        <translation>正在查看图片：{done}/{total}</translation>
    </message>
</context>
<context>
    <name>LayersPanel</name>
    <message>
        <source>Labels</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>Show or hide the labels (H)</source>
        <translation>显示或隐藏标注 (H)</translation>
    </message>
    <message>
        <source>How strongly labels are shown</source>
        <translation>标注的不透明度</translation>
    </message>
    <message>
        <source>Predictions</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Show or hide the predictions (Shift+H)</source>
        <translation>显示或隐藏预测 (Shift+H)</translation>
    </message>
    <message>
        <source>How strongly predictions are shown</source>
        <translation>预测的不透明度</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Show what differs from the good sample (Ctrl+D)</source>
        <translation>显示与良品样本的差异 (Ctrl+D)</translation>
    </message>
    <message>
        <source>How strongly the difference is shown</source>
        <translation>差异显示的强度</translation>
    </message>
    <message>
        <source>Use this one</source>
        <translation>用这张</translation>
    </message>
    <message>
        <source>Use the current image as the defect-free reference image</source>
        <translation>将当前图片设为良品参考图</translation>
    </message>
    <message>
        <source>No good sample</source>
        <translation>没有良品样本</translation>
    </message>
    <message>
        <source>A picture of a part without defects, of the same size</source>
        <translation>同样大小、无缺陷零件的图片</translation>
    </message>
</context>
<context>
    <name>LeaveGuard</name>
    <message>
        <source>The training could not be left running, so nothing was closed.</source>
        <translation>无法让训练在后台继续运行，因此未关闭任何内容。</translation>
    </message>
    <message>
        <source>The labels that could not be saved are in {path}.</source>
        <translation>无法保存的标注已存放在 {path}。</translation>
    </message>
    <message>
        <source>Copy its folders masks and notes into the project when it can be written again.</source>
        <translation>项目恢复可写后，请将其中的 masks 和 notes 文件夹复制到项目中。</translation>
    </message>
    <message>
        <source>The labels of 1 image could not be saved.</source>
        <translation>1 张图片的标注无法保存。</translation>
    </message>
    <message>
        <source>The labels of {n} images could not be saved.</source>
        <translation>{n} 张图片的标注无法保存。</translation>
    </message>
    <message>
        <source>Free some space or make the folder writable, then try again.</source>
        <translation>请腾出磁盘空间或将文件夹设为可写，然后重试。</translation>
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
        <source>Save a copy elsewhere…</source>
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
        <source>Left running, it goes on in the background and is shown again when the project is opened.</source>
        <translation>若让其继续运行，训练将在后台进行，再次打开项目时会重新显示。</translation>
    </message>
    <message>
        <source>Stopped, it keeps the best model so far and can be continued later.</source>
        <translation>若停止，将保留目前最好的模型，之后可以继续训练。</translation>
    </message>
    <message>
        <source>Stop and keep the model</source>
        <translation>停止并保留模型</translation>
    </message>
    <message>
        <source>Leave it running</source>
        <translation>继续运行</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Preparing the training…</source>
        <translation>正在准备训练…</translation>
    </message>
    <message>
        <source>Stopping the training and saving the model…</source>
        <translation>正在停止训练并保存模型…</translation>
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
        <source>The window closes when it is done.</source>
        <translation>完成后窗口将关闭。</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Stop it</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Wait for it</source>
        <translation>等待完成</translation>
    </message>
    <message>
        <source>Work in the background</source>
        <translation>后台任务</translation>
    </message>
</context>
<context>
    <name>LiveTrainingCommands</name>
    <message>
        <source>&amp;Pause or go on</source>
        <translation>暂停或继续(&amp;P)</translation>
    </message>
    <message>
        <source>Pause training. The time limit is paused as well.</source>
        <translation>暂停训练，计时同时暂停。</translation>
    </message>
    <message>
        <source>Show the &amp;whole run</source>
        <translation>显示整个训练过程(&amp;W)</translation>
    </message>
    <message>
        <source>&amp;Compare with other runs…</source>
        <translation>与其他训练比较(&amp;C)…</translation>
    </message>
    <message>
        <source>Put the curves of other runs beside this one</source>
        <translation>将其他训练的曲线与之并排</translation>
    </message>
    <message>
        <source>Save the curves as a &amp;picture…</source>
        <translation>将曲线保存为图片(&amp;P)…</translation>
    </message>
    <message>
        <source>Save the curves as a &amp;table…</source>
        <translation>将曲线保存为表格(&amp;T)…</translation>
    </message>
</context>
<context>
    <name>Message</name>
    <message>
        <source>Close this message</source>
        <translation>关闭此消息</translation>
    </message>
</context>
<context>
    <name>MissingFolder</name>
    <message>
        <source>Find the project folder</source>
        <translation>查找项目文件夹</translation>
    </message>
    <message>
        <source>The project folder is available again; everything is saved.</source>
        <translation>项目文件夹已恢复可用，全部更改均已保存。</translation>
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
        <source>You can go on labeling; changes are saved when the folder is available again.</source>
        <translation>您可以继续标注；文件夹恢复可用后会自动保存更改。</translation>
    </message>
    <message>
        <source>Unsaved changes: {count}. They are kept in memory and in a rescue journal.</source>
        <translation>未保存的更改：{count} 处。这些更改保留在内存和应急日志中。</translation>
    </message>
    <message>
        <source>Unsaved changes: {count}. They are kept in memory.</source>
        <translation>未保存的更改：{count} 处。这些更改保留在内存中。</translation>
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
        <source>Optional; pictures can also be dropped in later</source>
        <translation>可不填；以后也可以把图片拖进来</translation>
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
        <source>Where the project&apos;s folder is made</source>
        <translation>项目文件夹建在哪里</translation>
    </message>
    <message>
        <source>&amp;Folder</source>
        <translation>位置(&amp;F)</translation>
    </message>
    <message>
        <source>A folder of pictures, used where it lies</source>
        <translation>图片文件夹，原地使用，不复制</translation>
    </message>
    <message>
        <source>&amp;Pictures</source>
        <translation>图片(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Classes</source>
        <translation>类别(&amp;C)</translation>
    </message>
    <message>
        <source>Kinds of defects to paint, for UNet; more can be added at any time</source>
        <translation>要涂画的缺陷种类，供 UNet 学习；可随时添加</translation>
    </message>
    <message>
        <source>&amp;Verdicts</source>
        <translation>判定(&amp;V)</translation>
    </message>
    <message>
        <source>Judgements of a whole picture, for ResNet; may stay empty</source>
        <translation>对整张图片的判定，供 ResNet 学习；可以不填</translation>
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
        <source>The project will be made in {path}</source>
        <translation>项目将建在 {path}</translation>
    </message>
    <message>
        <source>The name becomes a folder: it must not be empty or hold any of &lt; &gt; : &quot; / \ | ? *</source>
        <translation>名称会成为文件夹名：不能为空，也不能含有 &lt; &gt; : &quot; / \ | ? *</translation>
    </message>
    <message>
        <source>Choose the folder in which the project is made.</source>
        <translation>请选择用来存放项目的文件夹。</translation>
    </message>
    <message>
        <source>There is a project of this name already. Choose another name, or open it.</source>
        <translation>已有同名项目。请换一个名称，或者直接打开它。</translation>
    </message>
    <message>
        <source>This folder of pictures does not exist.</source>
        <translation>这个图片文件夹不存在。</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
</context>
<context>
    <name>NoMatchPage</name>
    <message>
        <source>No picture matches</source>
        <translation>没有符合条件的图片</translation>
    </message>
    <message>
        <source>Show all pictures</source>
        <translation>显示所有图片</translation>
    </message>
</context>
<context>
    <name>Notifications</name>
    <message>
        <source>There is no class to paint with yet.</source>
        <translation>还没有可以涂画的类别。</translation>
    </message>
    <message>
        <source>Add one with the + beside Classes.</source>
        <translation>点击“类别”旁的 + 添加一个。</translation>
    </message>
    <message>
        <source>This project is open read-only, so nothing can be painted.</source>
        <translation>项目以只读方式打开，不能涂画。</translation>
    </message>
    <message>
        <source>Close the window that holds it, then open it again.</source>
        <translation>请关闭占用它的窗口，然后重新打开。</translation>
    </message>
    <message>
        <source>This area is too large for one gesture; nothing was painted.</source>
        <translation>该区域过大，无法一次选取；没有涂任何内容。</translation>
    </message>
    <message>
        <source>Lower the tolerance, or take a smaller part.</source>
        <translation>请降低容差，或选取较小的部分。</translation>
    </message>
    <message>
        <source>No defect found in this box.</source>
        <translation>框内没有分割出缺陷。</translation>
    </message>
    <message>
        <source>Leave some surface around the defect inside the box, or use the wand.</source>
        <translation>请在框内缺陷周围留一些表面，或改用魔棒。</translation>
    </message>
    <message>
        <source>There is nothing to take here.</source>
        <translation>这里没有可选取的内容。</translation>
    </message>
    <message>
        <source>No continuous line found between the two points.</source>
        <translation>两点之间没有找到连续的线。</translation>
    </message>
    <message>
        <source>These two clicks are too far apart.</source>
        <translation>两次点击相距太远。</translation>
    </message>
    <message>
        <source>Click once more in between.</source>
        <translation>请在中间再点击一次。</translation>
    </message>
    <message>
        <source>There is no region here.</source>
        <translation>这里没有区域。</translation>
    </message>
    <message>
        <source>Click on something that is painted.</source>
        <translation>请点击已标注的内容。</translation>
    </message>
    <message>
        <source>Nothing was painted: “Keep other classes” protects this area.</source>
        <translation>未涂画：“保留其他类别”保护了此区域。</translation>
    </message>
    <message>
        <source>Switch “Keep other classes” off first (X).</source>
        <translation>请先关闭“保留其他类别”(X)。</translation>
    </message>
    <message>
        <source>Nothing is proposed here.</source>
        <translation>此处没有建议。</translation>
    </message>
    <message>
        <source>Ctrl+R lets the model look at this picture.</source>
        <translation>按 Ctrl+R 让模型查看此图片。</translation>
    </message>
    <message>
        <source>This class is locked.</source>
        <translation>该类别已锁定。</translation>
    </message>
    <message>
        <source>Allow it in the class&apos;s menu first.</source>
        <translation>请先在该类别的菜单中允许。</translation>
    </message>
    <message>
        <source>The curves are saved in {path}.</source>
        <translation>曲线已保存到 {path}。</translation>
    </message>
    <message>
        <source>It is shown read-only here; nothing can be changed by accident.</source>
        <translation>这里以只读方式显示，不会被误改。</translation>
    </message>
    <message>
        <source>Unexpected error: {what}</source>
        <translation>意外错误：{what}</translation>
    </message>
    <message>
        <source>Save your work and restart the program if it no longer behaves as expected.</source>
        <translation>如果程序表现异常，请保存工作并重新启动程序。</translation>
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
        <source>The export is ready in {path}.</source>
        <translation>导出已完成，位于 {path}。</translation>
    </message>
    <message>
        <source>{name} marked done</source>
        <translation>{name} 已标记为完成</translation>
    </message>
    <message>
        <source>{name} marked as not done</source>
        <translation>{name} 已标记为未完成</translation>
    </message>
    <message>
        <source>{n} images</source>
        <translation>{n} 张图片</translation>
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
        <source>1 image copied into the project</source>
        <translation>已将 1 张图片复制到项目中</translation>
    </message>
    <message>
        <source>{n} images copied into the project</source>
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
        <source>{name} is a project; drop it alone to open it</source>
        <translation>{name} 是一个项目；请单独拖入以打开</translation>
    </message>
    <message>
        <source>{name} is not on this computer</source>
        <translation>{name} 不在本机上</translation>
    </message>
    <message>
        <source>{n} more left out</source>
        <translation>另有 {n} 项未复制</translation>
    </message>
    <message>
        <source>; </source>
        <translation>；</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>The export was cancelled; nothing half made is left.</source>
        <translation>已取消导出，没有留下未完成的文件。</translation>
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
        <source>The least area of a region: smaller ones are dropped</source>
        <translation>区域的最小面积：更小的会被舍去</translation>
    </message>
    <message>
        <source>What mistakes cost</source>
        <translation>错误的代价</translation>
    </message>
    <message>
        <source>What a missed defect costs, in false alarms</source>
        <translation>一处漏检相当于多少处误报</translation>
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
        <source>Use this operating point</source>
        <translation>使用此工作点</translation>
    </message>
    <message>
        <source>Predictions and exports of this run use this operating point from now on</source>
        <translation>此训练记录的预测和导出今后都使用该工作点</translation>
    </message>
    <message>
        <source>Reset to trained value</source>
        <translation>恢复训练值</translation>
    </message>
    <message>
        <source>Back to the point that the training chose</source>
        <translation>回到训练选择的工作点</translation>
    </message>
    <message>
        <source>Missed: {missed}. False alarms: {false}. Together they cost {total}.</source>
        <translation>漏检 {missed} 处，误报 {false} 处，总代价 {total}。</translation>
    </message>
    <message>
        <source>This run is being trained: its point can be changed when it has ended.</source>
        <translation>此训练正在进行：结束后才能更改工作点。</translation>
    </message>
    <message>
        <source>In use is a point that was chosen in review.</source>
        <translation>当前使用的是在审查中选择的工作点。</translation>
    </message>
    <message>
        <source>In use is the point that the training chose.</source>
        <translation>当前使用的是训练选择的工作点。</translation>
    </message>
    <message>
        <source>A missed defect costs as much as {n} false alarms</source>
        <translation>一处漏检的代价相当于 {n} 处误报</translation>
    </message>
    <message>
        <source>A false alarm costs as much as {n} missed defects</source>
        <translation>一处误报的代价相当于 {n} 处漏检</translation>
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
        <source>A stroke that comes back to its start is filled</source>
        <translation>笔画回到起点时填充内部</translation>
    </message>
    <message>
        <source>Pen pressure</source>
        <translation>笔压</translation>
    </message>
    <message>
        <source>The harder the pen is pressed, the wider the stroke</source>
        <translation>笔压得越重，笔画越宽</translation>
    </message>
    <message>
        <source>Find it at the click, from how far the touched tone reaches</source>
        <translation>点击时根据所触灰度的范围自动确定</translation>
    </message>
    <message>
        <source>Tolerance</source>
        <translation>容差</translation>
    </message>
    <message>
        <source>Band</source>
        <translation>灰度带</translation>
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
        <source>Take what lies inside as well</source>
        <translation>连同内部一起选取</translation>
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
        <source>Up to</source>
        <translation>最宽</translation>
    </message>
    <message>
        <source> px wide</source>
        <translation> 像素宽</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步长</translation>
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
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Which line</source>
        <translation>哪种线</translation>
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
    <message>
        <source>Ctrl erases</source>
        <translation>按住 Ctrl 擦除</translation>
    </message>
    <message>
        <source>Removes labels</source>
        <translation>清除标注</translation>
    </message>
    <message>
        <source>Left out of learning and scores</source>
        <translation>不参与学习和评分</translation>
    </message>
    <message>
        <source>Says: good here</source>
        <translation>表示：此处完好</translation>
    </message>
    <message>
        <source>Drag to paint gray values similar to the start point</source>
        <translation>拖动：涂画与起点灰度相近的像素</translation>
    </message>
    <message>
        <source>Press; drag right for more, left for less</source>
        <translation>按住；向右拖更多，向左拖更少</translation>
    </message>
    <message>
        <source>Click along the line; Enter ends</source>
        <translation>沿线点击；回车结束</translation>
    </message>
    <message>
        <source>Click around it; Enter closes; Backspace takes back</source>
        <translation>沿边点击；回车闭合；退格撤回</translation>
    </message>
    <message>
        <source>Drag a box around the defect</source>
        <translation>在缺陷周围拖出一个框</translation>
    </message>
    <message>
        <source>Click corners; drag moves, a side adds, Shift removes; Enter closes</source>
        <translation>点击顶点；拖动移动，拖边添加，Shift 删除；回车闭合</translation>
    </message>
    <message>
        <source>Drag around it</source>
        <translation>拖动圈出</translation>
    </message>
    <message>
        <source>Drag; Shift makes a square</source>
        <translation>拖动；按住 Shift 为正方形</translation>
    </message>
    <message>
        <source>Drag; Shift makes a circle</source>
        <translation>拖动；按住 Shift 为圆</translation>
    </message>
    <message>
        <source>Click an area of one class</source>
        <translation>点击同一类别的一片区域</translation>
    </message>
    <message>
        <source>Click a region; Ctrl takes it all away</source>
        <translation>点击区域；按住 Ctrl 全部去掉</translation>
    </message>
    <message>
        <source>Click a region; drag moves, 1–9 change the class, Del deletes</source>
        <translation>点击区域；拖动移动，1–9 更改类别，Del 删除</translation>
    </message>
    <message>
        <source>Click or drag a box to accept; Ctrl rejects; 1–9, +, − change the one under it</source>
        <translation>单击或拖框接受；Ctrl 拒绝；1–9、+、− 修改指针下的建议</translation>
    </message>
</context>
<context>
    <name>PageCommands</name>
    <message>
        <source>Next page of the &amp;file</source>
        <translation>文件的下一页(&amp;F)</translation>
    </message>
    <message>
        <source>Labels belong to the first page; the others can be looked at</source>
        <translation>标注属于第一页；其他页可以查看</translation>
    </message>
    <message>
        <source>Previous pa&amp;ge of the file</source>
        <translation>文件的上一页(&amp;G)</translation>
    </message>
</context>
<context>
    <name>PageIndicator</name>
    <message>
        <source>Page {number} of {count}</source>
        <translation>第 {number} 页，共 {count} 页</translation>
    </message>
    <message>
        <source> – of another size: labels lie on page 1</source>
        <translation> – 尺寸不同：标注在第 1 页上</translation>
    </message>
</context>
<context>
    <name>PrecisionRecallPlot</name>
    <message>
        <source>Precision over recall</source>
        <translation>精确率—召回率曲线</translation>
    </message>
    <message>
        <source>Threshold {threshold}: recall {recall}, precision {precision}, {false} false alarms per image</source>
        <translation>阈值 {threshold}：召回率 {recall}，精确率 {precision}，每张图片 {false} 处误报</translation>
    </message>
    <message>
        <source>Recall, %</source>
        <translation>召回率，%</translation>
    </message>
    <message>
        <source>Precision, %</source>
        <translation>精确率，%</translation>
    </message>
</context>
<context>
    <name>PredictFolderDialog</name>
    <message>
        <source>Predict a folder</source>
        <translation>预测文件夹</translation>
    </message>
    <message>
        <source>A folder that was exported</source>
        <translation>已导出的文件夹</translation>
    </message>
    <message>
        <source>The folder is searched with all below it</source>
        <translation>包括其下所有文件夹</translation>
    </message>
    <message>
        <source>Masks, overlays, regions.csv and results.json are written here</source>
        <translation>掩码、叠加图、regions.csv 和 results.json 写在这里</translation>
    </message>
    <message>
        <source>Draw &amp;overlays</source>
        <translation>绘制叠加图(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Skip images that already have results</source>
        <translation>跳过已有结果的图片(&amp;K)</translation>
    </message>
    <message>
        <source>&amp;Watch folder</source>
        <translation>监视文件夹(&amp;W)</translation>
    </message>
    <message>
        <source>Looks at each picture that comes into the folder, until it is stopped</source>
        <translation>文件夹中每来一张图片就看一张，直到停止</translation>
    </message>
    <message>
        <source>&amp;Model</source>
        <translation>模型(&amp;M)</translation>
    </message>
    <message>
        <source>A run or an export</source>
        <translation>训练或导出</translation>
    </message>
    <message>
        <source>&amp;Pictures</source>
        <translation>图片(&amp;P)</translation>
    </message>
    <message>
        <source>The folder of pictures to look at</source>
        <translation>要查看的图片文件夹</translation>
    </message>
    <message>
        <source>&amp;Results</source>
        <translation>结果(&amp;R)</translation>
    </message>
    <message>
        <source>The folder that the results are written to</source>
        <translation>写入结果的文件夹</translation>
    </message>
    <message>
        <source>Browse…</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>What was found</source>
        <translation>发现的内容</translation>
    </message>
    <message>
        <source>Choose a picture in the table to see it; Enter opens it.</source>
        <translation>在表中选择图片即可查看；按回车键打开。</translation>
    </message>
    <message>
        <source>Show the folder of results</source>
        <translation>显示结果文件夹</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Loading the model and looking for pictures…</source>
        <translation>正在载入模型并查找图片…</translation>
    </message>
    <message>
        <source>Waiting for pictures in {folder}…</source>
        <translation>正在等待 {folder} 中的图片…</translation>
    </message>
    <message>
        <source>Waiting for more: {done} pictures, {skipped} skipped</source>
        <translation>等待更多：已处理 {done} 张图片，跳过 {skipped} 张</translation>
    </message>
    <message>
        <source>{done} of {total} pictures, about {left} left</source>
        <translation>{done}/{total} 张图片，约剩 {left}</translation>
    </message>
    <message>
        <source>Done: {done} pictures, {skipped} skipped. The results are in {path}</source>
        <translation>完成：{done} 张图片，跳过 {skipped} 张。结果在 {path}</translation>
    </message>
    <message>
        <source>Stopped. {done} images done, {skipped} skipped. Results are kept; select “Skip images that already have results” to continue.</source>
        <translation>已停止：完成 {done} 张，跳过 {skipped} 张。结果已保留；勾选“跳过已有结果的图片”可继续。</translation>
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
    <name>PredictionCommands</name>
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
        <translation>概率图(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Uncertainty map</source>
        <translation>不确定度图(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Next way of drawing predictions</source>
        <translation>切换预测的显示方式(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Earlier in the training</source>
        <translation>训练中更早的一步(&amp;E)</translation>
    </message>
    <message>
        <source>Prediction for this image at an earlier training step</source>
        <translation>训练早期对此图片的预测</translation>
    </message>
    <message>
        <source>&amp;Later in the training</source>
        <translation>训练中更晚的一步(&amp;L)</translation>
    </message>
    <message>
        <source>The run&apos;s own &amp;thresholds</source>
        <translation>这次训练自己的阈值(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Keep learning</source>
        <translation>持续学习(&amp;K)</translation>
    </message>
    <message>
        <source>When its time is up the run goes on with what is labelled, until it is stopped</source>
        <translation>时间用完后，训练用新的标注继续进行，直到停止</translation>
    </message>
    <message>
        <source>C&amp;ontinue training with new labels</source>
        <translation>用新标注继续训练(&amp;O)</translation>
    </message>
    <message>
        <source>Open the shown run again: it goes on with all that was labelled since</source>
        <translation>重新打开所显示的训练：用此后的全部标注继续学习</translation>
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
        <source>Scores</source>
        <translation>得分</translation>
    </message>
    <message>
        <source>Defect probability of each pixel; for a verdict, the image areas that influenced it most</source>
        <translation>每个像素的缺陷概率；对整图判定则为影响最大的区域</translation>
    </message>
    <message>
        <source>Doubt</source>
        <translation>疑问</translation>
    </message>
    <message>
        <source>Areas where the two most likely classes have nearly the same probability</source>
        <translation>前两个类别概率接近的区域</translation>
    </message>
    <message>
        <source>How predictions are drawn</source>
        <translation>预测的绘制方式</translation>
    </message>
    <message>
        <source>Drawn as</source>
        <translation>绘制为</translation>
    </message>
    <message>
        <source>Look back: what the model saw in this picture earlier, as it learned</source>
        <translation>回看：学习过程中模型早先在这张图片上看到了什么</translation>
    </message>
    <message>
        <source>Step {n}</source>
        <translation>第 {n} 步</translation>
    </message>
    <message>
        <source>Whose threshold</source>
        <translation>哪个类别的阈值</translation>
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
        <source>The run&apos;s own threshold</source>
        <translation>这次训练自己的阈值</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>All classes</source>
        <translation>全部类别</translation>
    </message>
    <message>
        <source>various</source>
        <translation>各不相同</translation>
    </message>
    <message>
        <source>Moved by hand; click for the run&apos;s own thresholds</source>
        <translation>已手动调整；单击恢复这次训练自己的阈值</translation>
    </message>
</context>
<context>
    <name>PredictionOverlay</name>
    <message>
        <source>Predicting…</source>
        <translation>正在预测…</translation>
    </message>
    <message>
        <source>Ctrl+R: predict</source>
        <translation>Ctrl+R：预测</translation>
    </message>
    <message>
        <source>Model after step {step}</source>
        <translation>第 {step} 步的模型</translation>
    </message>
    <message>
        <source>Model: no defect</source>
        <translation>模型：没有缺陷</translation>
    </message>
    <message>
        <source>Model: 1 defect</source>
        <translation>模型：1 处缺陷</translation>
    </message>
    <message>
        <source>Model: {n} defects</source>
        <translation>模型：{n} 处缺陷</translation>
    </message>
    <message>
        <source>Prediction: unsure, most likely {verdict} ({sure})</source>
        <translation>预测：不确定，可能为 {verdict}（{sure}）</translation>
    </message>
    <message>
        <source>Model says: {verdict}{sure}</source>
        <translation>模型判定：{verdict}{sure}</translation>
    </message>
    <message>
        <source>Prediction (thresholds changed)</source>
        <translation>预测（阈值已调整）</translation>
    </message>
</context>
<context>
    <name>ProjectCommands</name>
    <message>
        <source>Open &amp;recent</source>
        <translation>最近的项目(&amp;R)</translation>
    </message>
    <message>
        <source>Open a project</source>
        <translation>打开项目</translation>
    </message>
    <message>
        <source>Making the sample project in {path}…</source>
        <translation>正在 {path} 中生成示例项目…</translation>
    </message>
    <message>
        <source>Everything is saved.</source>
        <translation>全部已保存。</translation>
    </message>
    <message>
        <source>Add pictures</source>
        <translation>添加图片</translation>
    </message>
    <message>
        <source>Pictures ({kinds})</source>
        <translation>图片 ({kinds})</translation>
    </message>
    <message>
        <source>Add a folder of pictures</source>
        <translation>添加图片文件夹</translation>
    </message>
    <message>
        <source>Open or create a project first, then drop the images again.</source>
        <translation>请先打开或新建项目，然后重新拖入图片。</translation>
    </message>
    <message>
        <source>No project yet</source>
        <translation>还没有项目</translation>
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
    <message>
        <source>Del</source>
        <translation>Del</translation>
    </message>
</context>
<context>
    <name>RejectOption</name>
    <message>
        <source>&amp;Unsure below</source>
        <translation>低于此概率为不确定(&amp;U)</translation>
    </message>
    <message>
        <source>Leave no error</source>
        <translation>不留错误</translation>
    </message>
    <message>
        <source>The lowest probability at which these pictures get no wrong verdict</source>
        <translation>使这些图片不出现错误判定的最低概率</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Every picture gets a verdict</source>
        <translation>每张图片都给出判定</translation>
    </message>
    <message>
        <source>Keep with this run</source>
        <translation>保存到此次训练</translation>
    </message>
    <message>
        <source>Predictions and exports of this run then say “unsure” below it</source>
        <translation>此后该训练的预测与导出在低于此概率时给出“unsure”（不确定）</translation>
    </message>
    <message>
        <source>Least probability of a verdict</source>
        <translation>判定的最低概率</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>All {n} pictures get a verdict; {left} of them are wrong.</source>
        <translation>全部 {n} 张图片都给出判定，其中 {left} 张错误。</translation>
    </message>
    <message>
        <source>All {n} pictures are unsure: a person must look at every one.</source>
        <translation>全部 {n} 张图片都不确定：每一张都须人工查看。</translation>
    </message>
    <message>
        <source>{unsure} of {n} images ({share}) need manual inspection; {caught} of them would have been wrong.</source>
        <translation>{n} 张中有 {unsure} 张（{share}）需人工复判，其中 {caught} 张原会误判。</translation>
    </message>
    <message>
        <source>Of the other {given}, {left} are wrong ({interval} of such pictures).</source>
        <translation>其余 {given} 张中有 {left} 张错误（此类图片的 {interval}）。</translation>
    </message>
    <message>
        <source>This is kept with the run.</source>
        <translation>已保存到此次训练。</translation>
    </message>
</context>
<context>
    <name>ReliabilityPlot</name>
    <message>
        <source>Reliability: how probable a verdict was, and how often it was right</source>
        <translation>可靠性：判定的概率与实际正确率</translation>
    </message>
    <message>
        <source>how sure it is → how often right ↑</source>
        <translation>把握程度 → 实际正确率 ↑</translation>
    </message>
</context>
<context>
    <name>ResultsModel</name>
    <message>
        <source>Picture</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>Found</source>
        <translation>发现</translation>
    </message>
    <message>
        <source>Largest, px</source>
        <translation>最大（像素）</translation>
    </message>
    <message>
        <source>Time, ms</source>
        <translation>时间（毫秒）</translation>
    </message>
    <message>
        <source>skipped: {why}</source>
        <translation>已跳过：{why}</translation>
    </message>
    <message>
        <source>1 region</source>
        <translation>1 个区域</translation>
    </message>
    <message>
        <source>{count} regions</source>
        <translation>{count} 个区域</translation>
    </message>
</context>
<context>
    <name>RunCompareMenu</name>
    <message>
        <source>Put beside the shown run</source>
        <translation>与当前训练并排显示</translation>
    </message>
    <message>
        <source>Runs to compare</source>
        <translation>要比较的训练</translation>
    </message>
    <message>
        <source>{run}  ·  checked on other pictures</source>
        <translation>{run}  ·  检验图片不同</translation>
    </message>
    <message>
        <source>Up to {n} runs.</source>
        <translation>最多 {n} 次训练。</translation>
    </message>
    <message>
        <source>Runs with different validation images cannot be compared; their metrics are hidden.</source>
        <translation>验证图片不同的训练记录无法比较，不显示其指标。</translation>
    </message>
    <message>
        <source>There is no other run yet.</source>
        <translation>还没有其他训练。</translation>
    </message>
</context>
<context>
    <name>RunDashboard</name>
    <message>
        <source>At {time}</source>
        <translation>{time} 时</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>At the end</source>
        <translation>结束时</translation>
    </message>
</context>
<context>
    <name>RunSelector</name>
    <message>
        <source>Runs</source>
        <translation>训练记录</translation>
    </message>
    <message>
        <source>Which run is shown; older runs can be looked at again and exported</source>
        <translation>显示哪一次训练；以前的训练可以再次查看和导出</translation>
    </message>
    <message>
        <source>Earlier runs</source>
        <translation>以前的训练</translation>
    </message>
</context>
<context>
    <name>SearchField</name>
    <message>
        <source>Search: name, class:, score:&lt;0.5 …</source>
        <translation>搜索：名称、class:、score:&lt;0.5 …</translation>
    </message>
    <message>
        <source>Search by name or by terms</source>
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
        <source>labelled</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>预测</translation>
    </message>
    <message>
        <source>Trying all thresholds…</source>
        <translation>正在尝试所有阈值…</translation>
    </message>
    <message>
        <source>All classes</source>
        <translation>全部类别</translation>
    </message>
    <message>
        <source>highest score on it {score}</source>
        <translation>其上最高分数 {score}</translation>
    </message>
    <message>
        <source>score {score}</source>
        <translation>分数 {score}</translation>
    </message>
    <message>
        <source>No defect is missed at this operating point.</source>
        <translation>在此工作点没有漏检的缺陷。</translation>
    </message>
    <message>
        <source>There is no false alarm at this operating point.</source>
        <translation>在此工作点没有误报。</translation>
    </message>
    <message>
        <source>Missed  {n}</source>
        <translation>漏检  {n}</translation>
    </message>
    <message>
        <source>False alarms  {n}</source>
        <translation>误报  {n}</translation>
    </message>
    <message>
        <source>Pictures  {n}</source>
        <translation>图片  {n}</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>{n} missed</source>
        <translation>{n} 处漏检</translation>
    </message>
    <message>
        <source>{n} false alarms</source>
        <translation>{n} 处误报</translation>
    </message>
    <message>
        <source>1 false alarm</source>
        <translation>1 处误报</translation>
    </message>
    <message>
        <source>nothing wrong</source>
        <translation>没有错误</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Asked for</source>
        <translation>要求</translation>
    </message>
    <message>
        <source>Back to automatic</source>
        <translation>恢复自动</translation>
    </message>
    <message>
        <source>{setting}: back to automatic</source>
        <translation>{setting}：恢复自动</translation>
    </message>
</context>
<context>
    <name>ShortcutsDialog</name>
    <message>
        <source>Keys</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Pointer</source>
        <translation>鼠标</translation>
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
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>Proposal under the pointer: make it a label</source>
        <translation>指针下的建议：变为标注</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Delete</translation>
    </message>
    <message>
        <source>Proposal under the pointer: reject it</source>
        <translation>指针下的建议：拒绝</translation>
    </message>
    <message>
        <source>+ −</source>
        <translation>+ −</translation>
    </message>
    <message>
        <source>Proposal under the pointer: grow, shrink</source>
        <translation>指针下的建议：扩大、缩小</translation>
    </message>
    <message>
        <source>Ctrl+1 … 9</source>
        <translation>Ctrl+1 … 9</translation>
    </message>
    <message>
        <source>Proposal under the pointer: give it a class</source>
        <translation>指针下的建议：指定类别</translation>
    </message>
    <message>
        <source>Alt + click</source>
        <translation>Alt + 单击</translation>
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
        <source>Ctrl+Shift + wheel</source>
        <translation>Ctrl+Shift + 滚轮</translation>
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
        <source>Middle drag, Space + drag</source>
        <translation>中键拖动，空格 + 拖动</translation>
    </message>
    <message>
        <source>Move the picture</source>
        <translation>移动图片</translation>
    </message>
    <message>
        <source>Shift + right drag</source>
        <translation>Shift + 右键拖动</translation>
    </message>
    <message>
        <source>Contrast across, brightness up and down</source>
        <translation>左右调对比度，上下调亮度</translation>
    </message>
    <message>
        <source>Hold Tab</source>
        <translation>按住 Tab</translation>
    </message>
    <message>
        <source>Hide labels and predictions</source>
        <translation>隐藏标注和预测</translation>
    </message>
    <message>
        <source>Right click</source>
        <translation>右键点击</translation>
    </message>
    <message>
        <source>What can be done to the region there</source>
        <translation>对该处区域可做的操作</translation>
    </message>
    <message>
        <source>Shift + click</source>
        <translation>Shift + 点击</translation>
    </message>
    <message>
        <source>Polygon: take away a corner</source>
        <translation>多边形：去掉一个顶点</translation>
    </message>
    <message>
        <source>Backspace</source>
        <translation>退格键</translation>
    </message>
    <message>
        <source>Polygon, smart edge: take back the last corner</source>
        <translation>多边形、智能边缘：撤回最后一点</translation>
    </message>
    <message>
        <source>Polygon, smart edge: close and paint</source>
        <translation>多边形、智能边缘：闭合并填充</translation>
    </message>
    <message>
        <source>Enter, double click</source>
        <translation>回车，双击</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Drop what is begun</source>
        <translation>放弃正在进行的操作</translation>
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
        <source>Not saved, trying again</source>
        <translation>未保存，正在重试</translation>
    </message>
    <message>
        <source>Looking through {total} pictures</source>
        <translation>正在检查 {total} 张图片</translation>
    </message>
    <message>
        <source>{x}, {y}   grey {value}</source>
        <translation>{x}, {y}   灰度 {value}</translation>
    </message>
    <message>
        <source>⚠ {n} parts of the file are damaged</source>
        <translation>⚠ 文件有 {n} 个部分已损坏</translation>
    </message>
    <message>
        <source>No region here</source>
        <translation>这里没有区域</translation>
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
        <source>don&apos;t care</source>
        <translation>不计入</translation>
    </message>
    <message>
        <source>not labelled</source>
        <translation>未标注</translation>
    </message>
    <message>
        <source>Brush {n} px</source>
        <translation>画笔 {n} 像素</translation>
    </message>
</context>
<context>
    <name>SuggestAllCard</name>
    <message>
        <source>Progress of looking at all pictures</source>
        <translation>查看所有图片的进度</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>The model looks at {n} pictures…</source>
        <translation>模型正在查看 {n} 张图片…</translation>
    </message>
    <message>
        <source>{done} of {total} pictures, {time} left</source>
        <translation>{done} / {total} 张图片，剩余 {time}</translation>
    </message>
</context>
<context>
    <name>SuggestionCommands</name>
    <message>
        <source>Review &amp;suggestions</source>
        <translation>处理预标注(&amp;D)</translation>
    </message>
    <message>
        <source>Proposals: click one or drag a box to accept; with Ctrl to reject</source>
        <translation>建议区域：单击或拖出方框即接受；按住 Ctrl 则拒绝</translation>
    </message>
    <message>
        <source>&amp;Accept all proposals</source>
        <translation>接受全部建议(&amp;A)</translation>
    </message>
    <message>
        <source>Accept all suggestions in this image as one undo step</source>
        <translation>接受此图片的全部预标注（可一次撤销）</translation>
    </message>
    <message>
        <source>Re&amp;ject all proposals</source>
        <translation>拒绝全部建议(&amp;J)</translation>
    </message>
    <message>
        <source>This model will not suggest these regions again. Can be undone.</source>
        <translation>此模型不再给出这些预标注；可撤销。</translation>
    </message>
    <message>
        <source>Bring &amp;back rejected proposals</source>
        <translation>恢复已拒绝的建议(&amp;B)</translation>
    </message>
    <message>
        <source>Propose again what was rejected in this picture</source>
        <translation>重新提出此图片中被拒绝的建议</translation>
    </message>
    <message>
        <source>Show pr&amp;oposals</source>
        <translation>显示建议区域(&amp;O)</translation>
    </message>
    <message>
        <source>Show what the model proposes beside the labels; Alt+Left and Alt+Right change over</source>
        <translation>在标注旁显示模型的建议；Alt+左/右 切换</translation>
    </message>
    <message>
        <source>Toward &amp;labels</source>
        <translation>偏向标注(&amp;L)</translation>
    </message>
    <message>
        <source>From proposals alone over both to labels alone</source>
        <translation>从仅建议，到两者，再到仅标注</translation>
    </message>
    <message>
        <source>Toward &amp;proposals</source>
        <translation>偏向建议(&amp;P)</translation>
    </message>
    <message>
        <source>From labels alone over both to proposals alone</source>
        <translation>从仅标注，到两者，再到仅建议</translation>
    </message>
    <message>
        <source>Generate suggestions f&amp;or all images</source>
        <translation>为所有图片生成预标注(&amp;O)</translation>
    </message>
    <message>
        <source>Run the latest model on every image and save its predictions as suggestions</source>
        <translation>用最新模型预测所有图片，结果保存为预标注</translation>
    </message>
</context>
<context>
    <name>SuggestionInteraction</name>
    <message>
        <source>{proposal}, changed</source>
        <translation>{proposal}，已修改</translation>
    </message>
    <message>
        <source>Space accepts, Del rejects</source>
        <translation>空格接受，Del 拒绝</translation>
    </message>
</context>
<context>
    <name>SuggestionMenu</name>
    <message>
        <source>Accept</source>
        <translation>接受</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>空格</translation>
    </message>
    <message>
        <source>Reject</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Del</translation>
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
        <source>{proposals} suggestions in {pictures} images to review.</source>
        <translation>{pictures} 张图片中有 {proposals} 个预标注待处理。</translation>
    </message>
    <message>
        <source>Stopped. {says}</source>
        <translation>已停止。{says}</translation>
    </message>
    <message>
        <source>{n} pictures could not be read.</source>
        <translation>{n} 张图片无法读取。</translation>
    </message>
</context>
<context>
    <name>SuggestionsPanel</name>
    <message>
        <source>Proposals</source>
        <translation>建议区域</translation>
    </message>
    <message>
        <source>Accept all</source>
        <translation>全部接受</translation>
    </message>
    <message>
        <source>Reject all</source>
        <translation>全部拒绝</translation>
    </message>
    <message>
        <source>All that is proposed in this picture becomes labels (Ctrl+Shift+A)</source>
        <translation>此图片的全部建议变为标注 (Ctrl+Shift+A)</translation>
    </message>
    <message>
        <source>This model will not suggest these regions again. Can be undone.</source>
        <translation>此模型不再给出这些预标注；可撤销。</translation>
    </message>
    <message>
        <source>Bring back {n} rejected</source>
        <translation>恢复 {n} 个已拒绝的建议</translation>
    </message>
    <message>
        <source>Proposals are hidden (Alt+Right shows them).</source>
        <translation>建议区域已隐藏（Alt+右 显示）。</translation>
    </message>
    <message>
        <source>{n} more regions are too many or too large to be shown.</source>
        <translation>另有 {n} 个区域因过多或过大而未显示。</translation>
    </message>
    <message>
        <source>Model predictions that differ from your labels appear here. Accept or reject each one.</source>
        <translation>与现有标注不同的模型预测会显示在这里，请逐一接受或拒绝。</translation>
    </message>
</context>
<context>
    <name>ThumbnailView</name>
    <message>
        <source>Contact sheet</source>
        <translation>缩略图总览</translation>
    </message>
    <message>
        <source>Table of pictures</source>
        <translation>图片表格</translation>
    </message>
    <message>
        <source>Sheet</source>
        <translation>总览</translation>
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
        <source>{n} selected</source>
        <translation>已选 {n} 张</translation>
    </message>
    <message>
        <source>No verdict</source>
        <translation>无判定</translation>
    </message>
    <message>
        <source>All selected pictures are: {name}{key}</source>
        <translation>所有选中的图片判定为：{name}{key}</translation>
    </message>
    <message>
        <source>Take the verdicts back</source>
        <translation>撤回判定</translation>
    </message>
</context>
<context>
    <name>ToolCommands</name>
    <message>
        <source>&amp;Brush</source>
        <translation>画笔(&amp;B)</translation>
    </message>
    <message>
        <source>Brush: paint the current class; Ctrl-drag erases</source>
        <translation>画笔：涂画当前类别；按住 Ctrl 拖动为擦除</translation>
    </message>
    <message>
        <source>&amp;Eraser</source>
        <translation>橡皮擦(&amp;E)</translation>
    </message>
    <message>
        <source>Eraser: back to unpainted</source>
        <translation>橡皮：恢复为未标注</translation>
    </message>
    <message>
        <source>&amp;Don&apos;t-care brush</source>
        <translation>忽略画笔(&amp;D)</translation>
    </message>
    <message>
        <source>Don&apos;t-care brush: paint where nobody can tell; left out of learning</source>
        <translation>忽略画笔：涂在无法判断的地方；不参与学习</translation>
    </message>
    <message>
        <source>&amp;Background brush</source>
        <translation>背景画笔(&amp;B)</translation>
    </message>
    <message>
        <source>Background brush: say that the surface is good here</source>
        <translation>背景画笔：说明此处表面完好</translation>
    </message>
    <message>
        <source>&amp;Threshold brush</source>
        <translation>阈值画笔(&amp;T)</translation>
    </message>
    <message>
        <source>Threshold brush: drag; takes only tones like the one first touched</source>
        <translation>阈值画笔：拖动；只取与起笔处相近的灰度</translation>
    </message>
    <message>
        <source>Magic &amp;wand</source>
        <translation>魔棒(&amp;W)</translation>
    </message>
    <message>
        <source>Magic wand: press on a tone, drag for the tolerance</source>
        <translation>魔棒：按住一处灰度，拖动调整容差</translation>
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
        <source>&amp;Smart edge</source>
        <translation>智能边缘(&amp;S)</translation>
    </message>
    <message>
        <source>Magnetic lasso: click along the outline, it snaps to edges; Enter closes it</source>
        <translation>磁性套索：沿轮廓点击，自动贴合边缘；按回车闭合</translation>
    </message>
    <message>
        <source>Box c&amp;ut</source>
        <translation>框选提取(&amp;U)</translation>
    </message>
    <message>
        <source>Box segmentation: drag a box around a defect to segment it</source>
        <translation>框选分割：拖框包围缺陷，自动分割</translation>
    </message>
    <message>
        <source>Polygon: click the corners, Enter closes, Esc drops</source>
        <translation>多边形：逐点单击，回车闭合，Esc 放弃</translation>
    </message>
    <message>
        <source>&amp;Polygon</source>
        <translation>多边形(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Lasso</source>
        <translation>套索(&amp;L)</translation>
    </message>
    <message>
        <source>Lasso: drag around it</source>
        <translation>套索：拖动圈出</translation>
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
        <source>&amp;Ellipse</source>
        <translation>椭圆(&amp;E)</translation>
    </message>
    <message>
        <source>Ellipse: drag its box; Shift makes a circle</source>
        <translation>椭圆：拖出外框；按住 Shift 为圆</translation>
    </message>
    <message>
        <source>&amp;Fill</source>
        <translation>填充(&amp;F)</translation>
    </message>
    <message>
        <source>Fill: give a connected area to the current class</source>
        <translation>填充：把连通区域改为当前类别</translation>
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
        <source>&amp;Region</source>
        <translation>区域(&amp;R)</translation>
    </message>
    <message>
        <source>Region: click one to move, delete, grow or give it to another class</source>
        <translation>区域：点击后可移动、删除、扩大或改类别</translation>
    </message>
    <message>
        <source>&amp;Larger brush</source>
        <translation>增大画笔(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Smaller brush</source>
        <translation>减小画笔(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Pick the class under the pointer</source>
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
        <source>Learn from the painted parts of this picture only</source>
        <translation>这张图片只学习涂画过的部分</translation>
    </message>
    <message>
        <source>Class {n}</source>
        <translation>类别 {n}</translation>
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
        <source>UNet learns from painted masks and marks defects pixel by pixel</source>
        <translation>UNet 从涂画的掩码学习，逐像素标出缺陷</translation>
    </message>
    <message>
        <source>ResNet learns from verdicts and judges whole pictures</source>
        <translation>ResNet 从判定学习，对整张图片作出判定</translation>
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
        <source>Processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>Where to train; the best device is the GPU where there is one</source>
        <translation>在哪里训练；有 GPU 时自动选择 GPU</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Recipe</source>
        <translation>训练方案</translation>
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
        <source>Choose formats, where a defect begins, and how quick it must be (Ctrl+Shift+E)</source>
        <translation>选择格式、缺陷判定起点以及速度要求 (Ctrl+Shift+E)</translation>
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
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Stop now; the best model so far is kept (Ctrl+T)</source>
        <translation>立即停止，保留目前最佳的模型 (Ctrl+T)</translation>
    </message>
    <message>
        <source>Start training (Ctrl+T)</source>
        <translation>开始训练 (Ctrl+T)</translation>
    </message>
    <message>
        <source>Advanced: what is decided about the training, and why</source>
        <translation>高级：训练的自动决定及理由</translation>
    </message>
    <message>
        <source>Advanced: {n} settings are chosen by hand</source>
        <translation>高级：{n} 项设置由人工选定</translation>
    </message>
    <message>
        <source>Cancel the export</source>
        <translation>取消导出</translation>
    </message>
    <message>
        <source>Export model</source>
        <translation>导出模型</translation>
    </message>
    <message>
        <source>Stop exporting; nothing half made is left behind</source>
        <translation>停止导出，不会留下未完成的文件</translation>
    </message>
    <message>
        <source>Export a folder that runs without Defect Workbench and gives the same results (Ctrl+E)</source>
        <translation>导出可脱离本软件运行、结果一致的模型文件夹（Ctrl+E）</translation>
    </message>
    <message>
        <source>Train first; then the model can be exported (Ctrl+E)</source>
        <translation>请先训练，然后才能导出模型 (Ctrl+E)</translation>
    </message>
</context>
<context>
    <name>TrainingCommands</name>
    <message>
        <source>&amp;Train or stop</source>
        <translation>训练或停止(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Predict current image</source>
        <translation>预测当前图片(&amp;P)</translation>
    </message>
    <message>
        <source>Show what the newest model sees on this picture</source>
        <translation>显示最新模型在这张图片上的结果</translation>
    </message>
    <message>
        <source>Predict a &amp;folder…</source>
        <translation>预测文件夹(&amp;F)…</translation>
    </message>
    <message>
        <source>Masks, overlays and tables for many pictures</source>
        <translation>为多张图片生成掩码、叠加图和表格</translation>
    </message>
    <message>
        <source>&amp;Export model</source>
        <translation>导出模型(&amp;E)</translation>
    </message>
    <message>
        <source>Make a folder that gives the same results without the workbench</source>
        <translation>生成一个文件夹，不用本软件也能得到相同结果</translation>
    </message>
    <message>
        <source>E&amp;xport options…</source>
        <translation>导出选项(&amp;C)…</translation>
    </message>
    <message>
        <source>Choose formats, where a defect begins, and how quick it must be</source>
        <translation>选择格式、缺陷判定起点以及速度要求</translation>
    </message>
</context>
<context>
    <name>TrainingPanel</name>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Fold or unfold the training panel (F4)</source>
        <translation>折叠或展开训练面板 (F4)</translation>
    </message>
    <message>
        <source>Put the curves of other runs beside this one (Ctrl+Shift+U)</source>
        <translation>将其他训练的曲线与之并排（Ctrl+Shift+U）</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>{what}, {time} left</source>
        <translation>{what}，剩余 {time}</translation>
    </message>
    <message>
        <source>Reading the labels and planning the run…</source>
        <translation>正在读取标注并规划训练…</translation>
    </message>
    <message>
        <source>Finishing the step under way and keeping the model…</source>
        <translation>正在完成当前步骤并保存模型…</translation>
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
        <translation>{what}：{done}/{total}</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>{share} done, {time} left</source>
        <translation>已完成 {share}，剩余 {time}</translation>
    </message>
    <message>
        <source>Finishing, {time} over its time</source>
        <translation>正在收尾，已超时 {time}</translation>
    </message>
    <message>
        <source>{time} left of {planned}</source>
        <translation>剩余 {time}，共 {planned}</translation>
    </message>
    <message>
        <source>Open a project to train.</source>
        <translation>打开一个项目即可训练。</translation>
    </message>
    <message>
        <source>The curves begin with the first steps.</source>
        <translation>训练开始后这里会显示曲线。</translation>
    </message>
    <message>
        <source>Choose a run on the right to see how it went, or train a new one.</source>
        <translation>在右侧选择一次训练查看其过程，或者开始新的训练。</translation>
    </message>
    <message>
        <source>Paint a few defects and mark the images as done (Enter), or set verdicts. Then click Train. Curves and predictions update during training.</source>
        <translation>涂画几处缺陷并标为完成（回车），或设置判定，然后点击“开始训练”。训练过程中曲线和预测会实时更新。</translation>
    </message>
</context>
<context>
    <name>TrainingSettingsCommands</name>
    <message>
        <source>&amp;Training settings…</source>
        <translation>训练设置(&amp;R)…</translation>
    </message>
    <message>
        <source>What is decided about it and why; every value can be chosen by hand</source>
        <translation>自动决定了什么、为什么；每个值都可以人工选定</translation>
    </message>
    <message>
        <source>Settings of &amp;this run…</source>
        <translation>此训练记录的设置(&amp;S)…</translation>
    </message>
    <message>
        <source>How this run was made, and why</source>
        <translation>此次训练的方案及理由</translation>
    </message>
</context>
<context>
    <name>TrainingSettingsDialog</name>
    <message>
        <source>Recipe</source>
        <translation>训练方案</translation>
    </message>
    <message>
        <source>The next {model} training</source>
        <translation>下一次 {model} 训练</translation>
    </message>
    <message>
        <source>The run shown: {name}</source>
        <translation>当前显示的训练：{name}</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Everything is decided automatically again</source>
        <translation>所有设置重新自动决定</translation>
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
        <source>{n} chosen by hand</source>
        <translation>{n} 项由人工选定</translation>
    </message>
    <message>
        <source>All automatic</source>
        <translation>全部自动</translation>
    </message>
    <message>
        <source>Chosen by hand.</source>
        <translation>由人工选定。</translation>
    </message>
    <message>
        <source>Chosen by hand; automatic: {value}</source>
        <translation>由人工选定；自动值：{value}</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>{setting} cannot be {value}: {why}</source>
        <translation>{setting} 不能为 {value}：{why}</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>How this run was made, and why.</source>
        <translation>此次训练的方案及理由。</translation>
    </message>
    <message>
        <source>The values below are the usual ones until then.</source>
        <translation>在此之前，下面显示的是常用值。</translation>
    </message>
    <message>
        <source>Looking at pictures and labels…</source>
        <translation>正在查看图片与标注…</translation>
    </message>
    <message>
        <source>What would be done now, and why. What you change stays for this project until you reset it.</source>
        <translation>现在训练会采用的方案及理由。您的更改会为此项目保留，直到重置。</translation>
    </message>
</context>
<context>
    <name>VerdictEvaluationPage</name>
    <message>
        <source>Which held-out pictures</source>
        <translation>选择留出图片</translation>
    </message>
    <message>
        <source>Progress</source>
        <translation>进度</translation>
    </message>
    <message>
        <source>Mistakes</source>
        <translation>错误</translation>
    </message>
    <message>
        <source>Every wrong verdict, the surest first</source>
        <translation>所有错误判定，把握最大的在前</translation>
    </message>
    <message>
        <source>Unsure</source>
        <translation>不确定</translation>
    </message>
    <message>
        <source>Pictures below the line, the least sure first</source>
        <translation>低于界线的图片，最不确定的在前</translation>
    </message>
    <message>
        <source>The model looks at the held-out pictures…</source>
        <translation>模型正在查看留出图片…</translation>
    </message>
    <message>
        <source>Test pictures</source>
        <translation>测试图片</translation>
    </message>
    <message>
        <source>Validation pictures</source>
        <translation>验证图片</translation>
    </message>
    <message>
        <source>All held-out pictures</source>
        <translation>全部留出图片</translation>
    </message>
    <message>
        <source>No picture is held out, so there is nothing to review.</source>
        <translation>没有留出图片，因此无可审查。</translation>
    </message>
    <message>
        <source>{right} of {total} judged right: {share} ({interval}), macro F1 {f1}</source>
        <translation>{total} 张中 {right} 张判断正确：{share}（{interval}），宏平均 F1 {f1}</translation>
    </message>
    <message>
        <source>The model and its calibration were chosen on the validation images, so results on new images may be slightly worse.</source>
        <translation>模型及概率校准由验证图片选定，新图片上的结果可能略差。</translation>
    </message>
    <message>
        <source>{n} held-out pictures have a verdict now that this model does not know.</source>
        <translation>{n} 张留出图片现在的判定是此模型不认识的。</translation>
    </message>
    <message>
        <source>{n} held-out pictures cannot be read.</source>
        <translation>{n} 张留出图片无法读取。</translation>
    </message>
    <message>
        <source>Mean calibration error (ECE): {error}, before calibration {raw}.</source>
        <translation>平均校准误差（ECE）：{error}，校准前 {raw}。</translation>
    </message>
    <message>
        <source>Labelled {label}, judged {said}: {n}</source>
        <translation>标注为 {label}，判断为 {said}：{n}</translation>
    </message>
    <message>
        <source>Mistakes, the surest first: {n}</source>
        <translation>错误，把握最大的在前：{n}</translation>
    </message>
    <message>
        <source>Below {least}, the least sure first: {n}</source>
        <translation>低于 {least}，最不确定的在前：{n}</translation>
    </message>
</context>
<context>
    <name>VerdictGallery</name>
    <message>
        <source>Pictures of the chosen cell</source>
        <translation>所选单元格的图片</translation>
    </message>
</context>
<context>
    <name>VerdictPanel</name>
    <message>
        <source>Verdicts such as OK and NG judge a whole picture. ResNet learns them.</source>
        <translation>判定（如 OK、NG）针对整张图片，由 ResNet 学习。</translation>
    </message>
    <message>
        <source>New verdict</source>
        <translation>新的判定</translation>
    </message>
    <message>
        <source>Type a name and press Enter</source>
        <translation>输入名称后按回车</translation>
    </message>
    <message>
        <source>Add a verdict</source>
        <translation>添加判定</translation>
    </message>
    <message>
        <source>This picture is: {name}</source>
        <translation>这张图片判定为：{name}</translation>
    </message>
    <message>
        <source>Alt+{n}; Shift+{n}: and on to the next</source>
        <translation>Alt+{n}；Shift+{n}：判定并转到下一张</translation>
    </message>
    <message>
        <source>Verdict {name}</source>
        <translation>判定 {name}</translation>
    </message>
</context>
<context>
    <name>ViewCommands</name>
    <message>
        <source>&amp;Fit to window</source>
        <translation>适合窗口(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;100 %</source>
        <translation>&amp;100 %</translation>
    </message>
    <message>
        <source>Zoom &amp;in</source>
        <translation>放大(&amp;I)</translation>
    </message>
    <message>
        <source>Zoom &amp;out</source>
        <translation>缩小(&amp;O)</translation>
    </message>
    <message>
        <source>Show &amp;labels</source>
        <translation>显示标注(&amp;L)</translation>
    </message>
    <message>
        <source>Show labels; hold Tab to hide everything for a moment</source>
        <translation>显示标注；按住 Tab 可暂时隐藏全部叠加</translation>
    </message>
    <message>
        <source>Show &amp;predictions</source>
        <translation>显示预测(&amp;P)</translation>
    </message>
    <message>
        <source>Pi&amp;ctures panel</source>
        <translation>图片面板(&amp;C)</translation>
    </message>
    <message>
        <source>Cl&amp;asses and layers panel</source>
        <translation>类别和图层面板(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Training panel</source>
        <translation>训练面板(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Next panel</source>
        <translation>下一个面板(&amp;N)</translation>
    </message>
    <message>
        <source>Pre&amp;vious panel</source>
        <translation>上一个面板(&amp;V)</translation>
    </message>
    <message>
        <source>F&amp;ull screen</source>
        <translation>全屏(&amp;U)</translation>
    </message>
    <message>
        <source>As the &amp;system</source>
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
        <source>As the system</source>
        <translation>跟随系统</translation>
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
        <source>A file…</source>
        <translation>文件…</translation>
    </message>
    <message>
        <source>Weights ({patterns})</source>
        <translation>权重 ({patterns})</translation>
    </message>
    <message>
        <source>Weights of a ResNet</source>
        <translation>ResNet 权重</translation>
    </message>
</context>
<context>
    <name>Welcome</name>
    <message>
        <source>Recent projects</source>
        <translation>最近的项目</translation>
    </message>
    <message>
        <source>New to Defect Workbench? The sample project contains labeled images of a scratched surface. Click Train and watch the predictions improve within minutes.</source>
        <translation>第一次使用？示例项目包含已标注的划痕图片。点击“开始训练”，几分钟内即可看到预测结果逐步改善。</translation>
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
        <source>Open project</source>
        <translation>打开项目</translation>
    </message>
    <message>
        <source>Sample project</source>
        <translation>示例项目</translation>
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
        <source>Proposals</source>
        <translation>建议区域</translation>
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
</context>
<context>
    <name>_Images</name>
    <message>
        <source>Picture</source>
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
        <source>False alarms</source>
        <translation>误报</translation>
    </message>
    <message>
        <source>Dice</source>
        <translation>Dice</translation>
    </message>
</context>
<context>
    <name>_VerdictDelegate</name>
    <message>
        <source>label: {name}</source>
        <translation>标注：{name}</translation>
    </message>
</context>
<context>
    <name>export</name>
    <message>
        <source>Runs everywhere with ONNX Runtime; the usual choice</source>
        <translation>用 ONNX Runtime 随处可运行；通常之选</translation>
    </message>
    <message>
        <source>The same file, run by OpenVINO; often quicker on Intel</source>
        <translation>同一文件，由 OpenVINO 运行；在 Intel 上往往更快</translation>
    </message>
    <message>
        <source>For programs that run Paddle already</source>
        <translation>用于已使用 Paddle 的程序</translation>
    </message>
    <message>
        <source>For Paddle Lite&apos;s converter and other older tools</source>
        <translation>用于 Paddle Lite 转换器及其他旧工具</translation>
    </message>
    <message>
        <source>For an NVIDIA card in the line&apos;s computer</source>
        <translation>用于产线计算机中的 NVIDIA 显卡</translation>
    </message>
    <message>
        <source>For small devices</source>
        <translation>用于小型设备</translation>
    </message>
    <message>
        <source>Whole numbers, their ranges measured on your pictures</source>
        <translation>整数运算，数值范围在您的图片上测得</translation>
    </message>
    <message>
        <source>Half of the digits; no other file than Paddle&apos;s</source>
        <translation>位数减半；与 Paddle 共用文件</translation>
    </message>
    <message>
        <source>all results equal</source>
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
        <source>A picture of the usual size takes {time} on this computer.</source>
        <translation>常见尺寸的图片在本机上需要 {time}。</translation>
    </message>
    <message>
        <source>found {before} → {after} of {all}</source>
        <translation>找出 {before} → {after}，共 {all}</translation>
    </message>
    <message>
        <source>false alarms {before} → {after} a picture</source>
        <translation>每张误报 {before} → {after}</translation>
    </message>
</context>
<context>
    <name>findings</name>
    <message>
        <source>Getting ready: the network is built, the pictures are read.</source>
        <translation>正在准备：构建网络，读取图片。</translation>
    </message>
    <message>
        <source>Paused. Progress is saved and the time limit is on hold.</source>
        <translation>已暂停。进度已保存，计时暂停。</translation>
    </message>
    <message>
        <source>The loss rises again, from {least} to {now}: a lower learning rate helps.</source>
        <translation>损失又上升了，从 {least} 到 {now}：降低学习率会有帮助。</translation>
    </message>
    <message>
        <source>No held-out picture has a defect, so there is no score. Label more pictures with defects.</source>
        <translation>留出图片中没有缺陷，因此没有分数。请标注更多带缺陷的图片。</translation>
    </message>
    <message>
        <source>The model predicts only background. Train longer or label more defects.</source>
        <translation>模型只预测出背景。请延长训练时间或标注更多缺陷。</translation>
    </message>
    <message>
        <source>The trainer waits for pictures {share} of the time.</source>
        <translation>训练有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>The trainer waits for pictures {share} of the time: the disk is slow.</source>
        <translation>训练有 {share} 的时间在等待图片：磁盘太慢。</translation>
    </message>
    <message>
        <source>The trainer waits for pictures {share} of the time: the processor is too busy to prepare them.</source>
        <translation>训练有 {share} 的时间在等待图片：处理器太忙，来不及准备图片。</translation>
    </message>
    <message>
        <source>The GPU waits for pictures {share} of the time.</source>
        <translation>GPU 有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>The GPU waits for pictures {share} of the time: the processor is too busy to prepare them.</source>
        <translation>GPU 有 {share} 的时间在等待图片：处理器太忙，来不及准备图片。</translation>
    </message>
    <message>
        <source>The memory of this computer is nearly full ({used} of {total}): close other programs.</source>
        <translation>这台电脑的内存快用完了（{used} / {total}）：请关闭其他程序。</translation>
    </message>
    <message>
        <source>{card} is throttling at {temperature} °C. Check its cooling.</source>
        <translation>{card} 温度达 {temperature} °C，已降频。请检查散热。</translation>
    </message>
    <message>
        <source>The GPU is busy only {load} of the time: a larger batch would fill it.</source>
        <translation>GPU 只有 {load} 的时间在工作：更大的批次可以充分利用它。</translation>
    </message>
    <message>
        <source>Training is improving, now {score}.</source>
        <translation>训练正常，指标在提升，当前 {score}。</translation>
    </message>
    <message>
        <source>It was still getting better when its time was up: more minutes help.</source>
        <translation>时间用完时结果仍在变好：延长训练时间会有帮助。</translation>
    </message>
    <message>
        <source>No improvement since {moment}. Label more images; training longer will not help.</source>
        <translation>自{moment}起指标不再提升。请增加标注，延长训练没有帮助。</translation>
    </message>
    <message>
        <source>All well: the loss fell from {first} to {now}.</source>
        <translation>一切正常：损失从 {first} 降到 {now}。</translation>
    </message>
    <message>
        <source>The first steps are done.</source>
        <translation>最初几步已完成。</translation>
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
        <source>Other classes, so the scores cannot be compared: they are not put side by side.</source>
        <translation>类别不同，分数无法比较：不并排显示。</translation>
    </message>
    <message>
        <source>Other labels on {count} held-out pictures, so the scores are not put side by side.</source>
        <translation>{count} 张留出图片的标注不同，因此不并排显示分数。</translation>
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
        <source>Other settings: {settings}.</source>
        <translation>设置不同：{settings}。</translation>
    </message>
    <message>
        <source>{n} more pictures to learn from</source>
        <translation>多 {n} 张学习图片</translation>
    </message>
    <message>
        <source>{n} fewer pictures to learn from</source>
        <translation>少 {n} 张学习图片</translation>
    </message>
    <message>
        <source>{n} pictures with other labels</source>
        <translation>{n} 张图片标注不同</translation>
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
        <source>Same pictures, labels and settings.</source>
        <translation>图片、标注和设置都相同。</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
</context>
<context>
    <name>history</name>
    <message>
        <source>Before these steps</source>
        <translation>这些步骤之前</translation>
    </message>
    <message>
        <source>Brush</source>
        <translation>画笔</translation>
    </message>
    <message>
        <source>Eraser</source>
        <translation>橡皮</translation>
    </message>
    <message>
        <source>Threshold brush</source>
        <translation>阈值画笔</translation>
    </message>
    <message>
        <source>Polygon</source>
        <translation>多边形</translation>
    </message>
    <message>
        <source>Rectangle</source>
        <translation>矩形</translation>
    </message>
    <message>
        <source>Ellipse</source>
        <translation>椭圆</translation>
    </message>
    <message>
        <source>Lasso</source>
        <translation>套索</translation>
    </message>
    <message>
        <source>Fill</source>
        <translation>填充</translation>
    </message>
    <message>
        <source>Wand</source>
        <translation>魔棒</translation>
    </message>
    <message>
        <source>Smart edge</source>
        <translation>智能边缘</translation>
    </message>
    <message>
        <source>Crack</source>
        <translation>裂纹</translation>
    </message>
    <message>
        <source>Box cut</source>
        <translation>框选分割</translation>
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
        <source>Proposal accepted</source>
        <translation>已采纳建议</translation>
    </message>
    <message>
        <source>Proposal rejected</source>
        <translation>已拒绝建议</translation>
    </message>
    <message>
        <source>Proposals brought back</source>
        <translation>已恢复建议</translation>
    </message>
    <message>
        <source>Went back</source>
        <translation>回到先前状态</translation>
    </message>
    <message>
        <source>Strokes recovered</source>
        <translation>已恢复笔画</translation>
    </message>
    <message>
        <source>Unpainted: not labelled</source>
        <translation>未涂处：未标注</translation>
    </message>
    <message>
        <source>Unpainted: background</source>
        <translation>未涂处：背景</translation>
    </message>
    <message>
        <source>Click: the picture as it stood after this step. Undo takes that back.</source>
        <translation>单击：回到此步之后的样子，可撤销。</translation>
    </message>
</context>
<context>
    <name>menus</name>
    <message>
        <source>&amp;Project</source>
        <translation>项目(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Label</source>
        <translation>标注(&amp;L)</translation>
    </message>
    <message>
        <source>P&amp;icture</source>
        <translation>图片(&amp;I)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Train</source>
        <translation>训练(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Curves</source>
        <translation>曲线(&amp;C)</translation>
    </message>
    <message>
        <source>Pr&amp;oposals</source>
        <translation>建议区域(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;Choose a class</source>
        <translation>选择类别(&amp;C)</translation>
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
        <source>&amp;Display</source>
        <translation>显示(&amp;D)</translation>
    </message>
    <message>
        <source>&amp;Verdict</source>
        <translation>判定(&amp;V)</translation>
    </message>
    <message>
        <source>Data &amp;split</source>
        <translation>数据划分(&amp;U)</translation>
    </message>
    <message>
        <source>Set verdict and go to &amp;next</source>
        <translation>判定并转到下一张(&amp;O)</translation>
    </message>
    <message>
        <source>&amp;How predictions are shown</source>
        <translation>预测的显示方式(&amp;H)</translation>
    </message>
    <message>
        <source>T&amp;heme</source>
        <translation>主题(&amp;H)</translation>
    </message>
    <message>
        <source>Lan&amp;guage</source>
        <translation>语言(&amp;G)</translation>
    </message>
</context>
<context>
    <name>plots</name>
    <message>
        <source>Loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>Score</source>
        <translation>分数</translation>
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
        <source>Pictures/s</source>
        <translation>图片/秒</translation>
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
        <source>Processor load</source>
        <translation>处理器负载</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Only 16-bit floats (fp16) need a loss scale; this run uses {name}.</source>
        <translation>只有 16 位浮点（fp16）需要损失缩放；本次训练使用 {name}。</translation>
    </message>
    <message>
        <source>No picture is held out, so there is no score.</source>
        <translation>没有留出图片，因此没有分数。</translation>
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
        <translation>出了问题。</translation>
    </message>
    <message>
        <source>{path} is not a workbench project: it has no project.json.</source>
        <translation>{path} 不是本软件的项目：其中没有 project.json。</translation>
    </message>
    <message>
        <source>Choose another folder, or create a project there.</source>
        <translation>请选择其他文件夹，或在那里新建项目。</translation>
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
        <translation>未作任何更改。请从备份恢复该文件，或修复后重试。</translation>
    </message>
    <message>
        <source>{path} was written by a newer workbench (format {found}; this one knows up to {known}).</source>
        <translation>{path} 由更新版本的软件写成（格式 {found}；本版本只支持到 {known}）。</translation>
    </message>
    <message>
        <source>Update the workbench to open it. Nothing was changed.</source>
        <translation>请升级软件后再打开。没有作任何更改。</translation>
    </message>
    <message>
        <source>This project is already open for writing in another window or on another computer (process {pid} on {host}).</source>
        <translation>该项目已在其他窗口或其他电脑上打开（{host}，进程 {pid}）。</translation>
    </message>
    <message>
        <source>Close it there, or open it here read-only.</source>
        <translation>请在那边关闭，或在这里以只读方式打开。</translation>
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
        <source>Close the other window that holds it, then open it again.</source>
        <translation>请关闭占用它的另一个窗口，然后重新打开。</translation>
    </message>
    <message>
        <source>The project is open read-only, because {path} could not be written: {why}.</source>
        <translation>项目以只读方式打开，因为无法写入 {path}：{why}。</translation>
    </message>
    <message>
        <source>Make the folder writable or free some space, then open the project again.</source>
        <translation>请将该文件夹设为可写或腾出磁盘空间，然后重新打开项目。</translation>
    </message>
    <message>
        <source>Labels of {count} images could not be saved, so the project stays open.</source>
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
        <source>{path} could not be written: {why}.</source>
        <translation>无法写入 {path}：{why}。</translation>
    </message>
    <message>
        <source>Free some space or make the folder writable.</source>
        <translation>请腾出磁盘空间或将文件夹设为可写。</translation>
    </message>
    <message>
        <source>Your changes are kept in memory and saving is retried. Free up disk space or make the folder writable.</source>
        <translation>更改仍在内存中，程序会自动重试保存。请清理磁盘空间或开放文件夹写权限。</translation>
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
        <translation>此处为只读。请在对方关闭该项目，然后重新打开。</translation>
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
        <source>The picture {path} cannot be read: {why}.</source>
        <translation>无法读取图片 {path}：{why}。</translation>
    </message>
    <message>
        <source>The image is skipped.</source>
        <translation>已跳过该图片。</translation>
    </message>
    <message>
        <source>The good sample {path} is {sample_width} x {sample_height} pixels, but this picture is {width} x {height}.</source>
        <translation>良品样本 {path} 为 {sample_width} x {sample_height} 像素，而这张图片为 {width} x {height}。</translation>
    </message>
    <message>
        <source>Choose a picture of this size as the good sample.</source>
        <translation>请选择一张同样大小的图片作为良品样本。</translation>
    </message>
    <message>
        <source>The mask {path} cannot be read: {why}.</source>
        <translation>无法读取掩码 {path}：{why}。</translation>
    </message>
    <message>
        <source>The file is not overwritten. Repair or delete it to label this image again.</source>
        <translation>该文件不会被覆盖。请修复或删除后再标注此图片。</translation>
    </message>
    <message>
        <source>The mask {path} is {mask_width} x {mask_height} pixels, but its picture is {width} x {height}.</source>
        <translation>掩码 {path} 为 {mask_width} x {mask_height} 像素，而对应图片为 {width} x {height}。</translation>
    </message>
    <message>
        <source>It is kept as it is and left out; make it the size of its picture.</source>
        <translation>它会原样保留并被跳过；请使其与图片尺寸一致。</translation>
    </message>
    <message>
        <source>The mask {path} contains class IDs that are not defined in this project: {ids}.</source>
        <translation>掩膜 {path} 含有本项目未定义的类别 ID：{ids}。</translation>
    </message>
    <message>
        <source>Add these classes, or import the mask again with the right mapping.</source>
        <translation>请添加这些类别，或用正确的对应关系重新导入该掩码。</translation>
    </message>
    <message>
        <source>The labels of {source} cannot be copied: {why}.</source>
        <translation>无法复制 {source} 的标注：{why}。</translation>
    </message>
    <message>
        <source>Nothing was changed.</source>
        <translation>没有作任何更改。</translation>
    </message>
    <message>
        <source>The note {path} cannot be read: {why}.</source>
        <translation>无法读取记录 {path}：{why}。</translation>
    </message>
    <message>
        <source>It is kept as it is; mend or delete it.</source>
        <translation>它会原样保留；请修复或删除它。</translation>
    </message>
    <message>
        <source>The note {path} was written by a newer workbench (format {found}; this one knows up to {known}).</source>
        <translation>记录 {path} 由更新版本的软件写成（格式 {found}；本版本只支持到 {known}）。</translation>
    </message>
    <message>
        <source>It is kept as it is, and the labels of this image cannot be changed here; update the workbench.</source>
        <translation>该文件保持原样，此图片的标注在这里不能修改；请升级软件。</translation>
    </message>
    <message>
        <source>The mask {path} could not be put back: {why}.</source>
        <translation>掩码 {path} 无法恢复：{why}。</translation>
    </message>
    <message>
        <source>It is left as it is now; its content before the change of classes is kept as {kept}.</source>
        <translation>它保持现状不变；类别更改之前的内容已保存为 {kept}。</translation>
    </message>
    <message>
        <source>{path} was changed by another program while it was open here.</source>
        <translation>{path} 在此处打开期间被其他程序修改过。</translation>
    </message>
    <message>
        <source>What was painted here is saved; the other version is kept as {kept}.</source>
        <translation>此处所绘已保存；另一版本保留为 {kept}。</translation>
    </message>
    <message>
        <source>{path} was changed by another program before your last strokes could be saved.</source>
        <translation>{path} 在您最后的笔画保存之前被其他程序修改。</translation>
    </message>
    <message>
        <source>Strokes that no longer fit were not applied. A mask with all your strokes was saved as {kept}.</source>
        <translation>不再吻合的笔画未写入。包含全部笔画的掩膜另存为 {kept}。</translation>
    </message>
    <message>
        <source>{path} was changed by another program before the changes of the last session were in it.</source>
        <translation>上次会话的更改写入之前，{path} 已被其他程序修改。</translation>
    </message>
    <message>
        <source>Where both changed the same, it is left as it is; the note with all changes is kept as {kept}.</source>
        <translation>双方修改了同一内容的部分保持文件现状；包含全部更改的记录已保存为 {kept}。</translation>
    </message>
    <message>
        <source>The strokes of the last session in {path} cannot be read: the file is damaged or of a newer workbench.</source>
        <translation>{path} 中上次的笔画无法读取：文件已损坏或来自更新版本。</translation>
    </message>
    <message>
        <source>It is kept as it is, and nothing else is affected.</source>
        <translation>该文件保持原样，其他内容不受影响。</translation>
    </message>
    <message>
        <source>Changes of notes of the last session in {path} cannot be read: the file is damaged or of a newer workbench.</source>
        <translation>{path} 中上次会话对记录的更改无法读取：文件已损坏或来自更新版本。</translation>
    </message>
    <message>
        <source>The grouping pattern {pattern} cannot be used: {why}.</source>
        <translation>分组规则 {pattern} 无法使用：{why}。</translation>
    </message>
    <message>
        <source>Correct it under &apos;grouping&apos; in project.json; repeated groups within repeated groups are slow.</source>
        <translation>请在 project.json 的 grouping 中修改；重复分组内再嵌套重复分组会非常慢。</translation>
    </message>
    <message>
        <source>The index of this project was damaged: {why}.</source>
        <translation>此项目的索引已损坏：{why}。</translation>
    </message>
    <message>
        <source>It is built again from the files; labels and images are not affected.</source>
        <translation>正在根据文件重新建立索引；标注和图片不受影响。</translation>
    </message>
    <message>
        <source>There are no pictures in this project.</source>
        <translation>这个项目里没有图片。</translation>
    </message>
    <message>
        <source>Put pictures into its folder &apos;pictures&apos;, or add a folder as a source.</source>
        <translation>请把图片放入其 pictures 文件夹，或添加一个图片来源文件夹。</translation>
    </message>
    <message>
        <source>Nothing in {path} could be imported as {format}.</source>
        <translation>{path} 中没有可以按 {format} 导入的内容。</translation>
    </message>
    <message>
        <source>Check the folder and the format.</source>
        <translation>请检查文件夹和格式。</translation>
    </message>
    <message>
        <source>{name} is not a label format that the workbench knows.</source>
        <translation>{name} 不是本软件支持的标注格式。</translation>
    </message>
    <message>
        <source>Choose one of: {known}.</source>
        <translation>请从以下选择：{known}。</translation>
    </message>
    <message>
        <source>No picture is labelled yet, so there is nothing to learn from.</source>
        <translation>还没有标注任何图片，没有可学习的内容。</translation>
    </message>
    <message>
        <source>Paint at least two pictures and mark them done (Enter), then train.</source>
        <translation>请至少涂画两张图片并标为完成（回车），然后再训练。</translation>
    </message>
    <message>
        <source>There are too few verdicts to learn from: {found} pictures in {kinds} kinds.</source>
        <translation>判定太少，无法学习：{kinds} 种判定共 {found} 张图片。</translation>
    </message>
    <message>
        <source>Set at least two different verdicts, each on at least two images, then train ResNet.</source>
        <translation>请至少设置两种判定，每种至少两张图片，然后再训练 ResNet。</translation>
    </message>
    <message>
        <source>This is the only picture with the verdict {verdict}: one picture is too few to learn a verdict from.</source>
        <translation>这是唯一判定为 {verdict} 的图片：只有一张图片不足以学习一种判定。</translation>
    </message>
    <message>
        <source>Give a second picture this verdict, or this picture another one.</source>
        <translation>请给第二张图片这个判定，或者给这张图片另一个判定。</translation>
    </message>
    <message>
        <source>Only {found} labeled image found; training needs at least two.</source>
        <translation>只有 {found} 张已标注图片，训练至少需要两张。</translation>
    </message>
    <message>
        <source>Label at least one more picture.</source>
        <translation>请至少再标注一张图片。</translation>
    </message>
    <message>
        <source>No labelled picture for training contains a painted defect.</source>
        <translation>用于训练的已标注图片中没有任何缺陷。</translation>
    </message>
    <message>
        <source>Paint some defects first.</source>
        <translation>请先涂画一些缺陷。</translation>
    </message>
    <message>
        <source>This project has no class named {name}.</source>
        <translation>本项目没有名为 {name} 的类别。</translation>
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
        <source>Classes are being changed in all masks, so nothing can be painted just now.</source>
        <translation>正在所有掩膜中更改类别，暂时无法标注。</translation>
    </message>
    <message>
        <source>Wait until it has ended, or cancel it in the panel of classes.</source>
        <translation>请等待其结束，或在类别面板中取消。</translation>
    </message>
    <message>
        <source>There is no run {name} in this project.</source>
        <translation>本项目没有名为 {name} 的训练。</translation>
    </message>
    <message>
        <source>Runs are: {known}.</source>
        <translation>现有训练：{known}。</translation>
    </message>
    <message>
        <source>The run {name} has no usable model: {why}.</source>
        <translation>训练 {name} 没有可用的模型：{why}。</translation>
    </message>
    <message>
        <source>Train again, or choose another run.</source>
        <translation>请重新训练，或选择另一次训练。</translation>
    </message>
    <message>
        <source>The run file {path} cannot be read: {why}.</source>
        <translation>无法读取训练文件 {path}：{why}。</translation>
    </message>
    <message>
        <source>The other runs are not affected.</source>
        <translation>其他训练不受影响。</translation>
    </message>
    <message>
        <source>The run {name} is being trained by another process ({pid} on {host}).</source>
        <translation>另一个进程正在训练运行 {name}（{host} 上的进程 {pid}）。</translation>
    </message>
    <message>
        <source>Wait until that process has ended, or stop it, then resume the run again.</source>
        <translation>请等待该进程结束，或将其停止，然后再次继续该运行。</translation>
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
        <source>The weights could not be fetched from {url}: {why}.</source>
        <translation>无法从 {url} 获取权重：{why}。</translation>
    </message>
    <message>
        <source>Check the network connection, save the file as {path}, or choose your own weights file.</source>
        <translation>请检查网络连接，或将文件保存为 {path}，或选择自己的权重文件。</translation>
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
        <source>Run &apos;workbench doctor&apos; to see what this machine offers.</source>
        <translation>运行 workbench doctor 可查看这台机器能做什么。</translation>
    </message>
    <message>
        <source>PaddlePaddle is not installed, so nothing can be trained.</source>
        <translation>没有安装 PaddlePaddle，无法训练。</translation>
    </message>
    <message>
        <source>Install it with: {command}</source>
        <translation>安装命令：{command}</translation>
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
        <translation>导出的模型与训练结果不一致（{why}），本次导出不可用。</translation>
    </message>
    <message>
        <source>The report is in {report}.</source>
        <translation>报告见 {report}。</translation>
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
        <translation>{path} 既不是训练，也不是导出。</translation>
    </message>
    <message>
        <source>Name a folder under runs/ or exports/ of a project, or an export that was taken elsewhere.</source>
        <translation>请选择项目中 runs/ 或 exports/ 下的文件夹，或已移到别处的导出。</translation>
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
        <source>{name} judges whole pictures, so it has no regions to propose.</source>
        <translation>{name} 判断的是整张图片，因此没有可建议的区域。</translation>
    </message>
    <message>
        <source>Use a UNet run, which says where a defect is.</source>
        <translation>请使用 UNet 训练，它能指出缺陷位置。</translation>
    </message>
    <message>
        <source>The proposals in {path} cannot be read: {why}.</source>
        <translation>{path} 中的建议无法读取：{why}。</translation>
    </message>
    <message>
        <source>Predict the picture again, or delete that file; labels are not affected.</source>
        <translation>请重新预测该图片，或删除该文件；标注不受影响。</translation>
    </message>
    <message>
        <source>No images to predict in {path}: {why}.</source>
        <translation>{path} 中没有可预测的图片：{why}。</translation>
    </message>
    <message>
        <source>Nothing can be written there: {why}</source>
        <translation>无法写入该处：{why}</translation>
    </message>
</context>
<context>
    <name>queue</name>
    <message>
        <source>{name} found, nothing labelled</source>
        <translation>发现{name}，未标注</translation>
    </message>
    <message>
        <source>{name} found, label says good</source>
        <translation>发现{name}，标注为良品</translation>
    </message>
    <message>
        <source>{name} labelled, nothing found</source>
        <translation>标注为{name}，未发现</translation>
    </message>
    <message>
        <source>{said} found, {labelled} labelled</source>
        <translation>发现{said}，标注为{labelled}</translation>
    </message>
    <message>
        <source>{said} found, verdict is {labelled}</source>
        <translation>发现{said}，判定为{labelled}</translation>
    </message>
    <message>
        <source>Unsure about 1 region</source>
        <translation>对 1 处区域没有把握</translation>
    </message>
    <message>
        <source>Unsure about {n} regions</source>
        <translation>对 {n} 处区域没有把握</translation>
    </message>
    <message>
        <source>Unsure whether {said} or {other}</source>
        <translation>分不清是{said}还是{other}</translation>
    </message>
    <message>
        <source>Possibly {name}; only {n} images of it are labeled</source>
        <translation>可能是{name}，该类别仅标注 {n} 张</translation>
    </message>
    <message>
        <source>Probably {name}</source>
        <translation>很可能是{name}</translation>
    </message>
    <message>
        <source>Unlike anything labelled</source>
        <translation>与已标注的都不像</translation>
    </message>
    <message>
        <source>Representative of about {n} similar images</source>
        <translation>可代表约 {n} 张相似图片</translation>
    </message>
    <message>
        <source>Different from those above it</source>
        <translation>与上面的图片不同</translation>
    </message>
    <message>
        <source>Contains a spot similar to labeled defects</source>
        <translation>有与已标注缺陷相似的区域</translation>
    </message>
    <message>
        <source>Model sees nothing here</source>
        <translation>模型在这里什么也没看到</translation>
    </message>
    <message>
        <source>Like what is labelled already</source>
        <translation>与已标注的相似</translation>
    </message>
    <message>
        <source>Model probability {share}; this is a training image</source>
        <translation>模型概率 {share}；该图片参与了训练</translation>
    </message>
    <message>
        <source>The model is {share} sure; it did not learn from this picture</source>
        <translation>模型把握 {share}；训练时没有用过这张图片</translation>
    </message>
    <message>
        <source>Every picture is done.</source>
        <translation>所有图片都已完成。</translation>
    </message>
    <message>
        <source>No model yet. Images are ordered by diversity; {looked} of {asked} analyzed.</source>
        <translation>还没有模型，按图片差异排序；已分析 {looked} / {asked} 张。</translation>
    </message>
    <message>
        <source>Nothing is labelled yet that the model could judge.</source>
        <translation>还没有模型可以检查的标注。</translation>
    </message>
    <message>
        <source>The newest model has looked at {looked} of {asked} labels.</source>
        <translation>最新的模型已查看 {asked} 个标注中的 {looked} 个。</translation>
    </message>
    <message>
        <source>Pictures it has learned from come last.</source>
        <translation>训练时用过的图片排在最后。</translation>
    </message>
    <message>
        <source>No label is contradicted.</source>
        <translation>没有与模型矛盾的标注。</translation>
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
        <source>How large the network may be: larger ones need more minutes.</source>
        <translation>网络可以有多大：越大需要的时间越多。</translation>
    </message>
    <message>
        <source>Begin with the run</source>
        <translation>从哪次训练开始</translation>
    </message>
    <message>
        <source>Prune</source>
        <translation>剪枝</translation>
    </message>
    <message>
        <source>The share of that run&apos;s channels that is taken out: a smaller network.</source>
        <translation>从那次训练的通道中去掉的比例：得到更小的网络。</translation>
    </message>
    <message>
        <source>Encoder</source>
        <translation>编码器</translation>
    </message>
    <message>
        <source>Encoder of the UNet: plain convolutions or a ResNet backbone.</source>
        <translation>UNet 的编码器：普通卷积或 ResNet 主干。</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Weights of a ResNet that others have trained are the start.</source>
        <translation>以他人训练好的 ResNet 权重为起点。</translation>
    </message>
    <message>
        <source>Channels</source>
        <translation>通道</translation>
    </message>
    <message>
        <source>1: the network sees grey, 3: colour.</source>
        <translation>1：网络看灰度；3：看彩色。</translation>
    </message>
    <message>
        <source>Full scale</source>
        <translation>满量程</translation>
    </message>
    <message>
        <source>The greatest value that a pixel can have.</source>
        <translation>像素可能的最大值。</translation>
    </message>
    <message>
        <source>Darkest value</source>
        <translation>最暗值</translation>
    </message>
    <message>
        <source>The grey value that becomes 0.</source>
        <translation>映射为 0 的灰度值。</translation>
    </message>
    <message>
        <source>Brightest value</source>
        <translation>最亮值</translation>
    </message>
    <message>
        <source>The grey value that becomes 1.</source>
        <translation>映射为 1 的灰度值。</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>Taken off each channel, so that values lie around 0.</source>
        <translation>从每个通道减去，使数值围绕 0。</translation>
    </message>
    <message>
        <source>Spread</source>
        <translation>标准差</translation>
    </message>
    <message>
        <source>Each channel is divided by it, so that values are about 1.</source>
        <translation>每个通道除以它，使数值约为 1。</translation>
    </message>
    <message>
        <source>Picture scale</source>
        <translation>图片缩放</translation>
    </message>
    <message>
        <source>Pictures are resized by this before the network sees them.</source>
        <translation>图片按此比例缩放后再交给网络。</translation>
    </message>
    <message>
        <source>Local contrast</source>
        <translation>局部对比度</translation>
    </message>
    <message>
        <source>Also show the network each pixel against its surroundings.</source>
        <translation>同时让网络看到每个像素与周围的对比。</translation>
    </message>
    <message>
        <source>Width and depth</source>
        <translation>宽度与深度</translation>
    </message>
    <message>
        <source>Channels of each level of the UNet; their number is its depth.</source>
        <translation>UNet 各层的通道数；个数即深度。</translation>
    </message>
    <message>
        <source>Stem</source>
        <translation>主干入口</translation>
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
        <source>Layers of the ResNet.</source>
        <translation>ResNet 的层数。</translation>
    </message>
    <message>
        <source>Width</source>
        <translation>宽度</translation>
    </message>
    <message>
        <source>Multiplies the channels of every layer of the ResNet.</source>
        <translation>ResNet 每层通道数的倍数。</translation>
    </message>
    <message>
        <source>Picture size</source>
        <translation>图片尺寸</translation>
    </message>
    <message>
        <source>Pictures become squares with sides of so many pixels.</source>
        <translation>图片变为此边长的正方形。</translation>
    </message>
    <message>
        <source>Patch</source>
        <translation>图块</translation>
    </message>
    <message>
        <source>The network learns from squares with sides of so many pixels.</source>
        <translation>网络从此边长的正方形图块中学习。</translation>
    </message>
    <message>
        <source>Overlap</source>
        <translation>重叠</translation>
    </message>
    <message>
        <source>Pixels that neighbouring tiles share when a picture is predicted.</source>
        <translation>预测时相邻图块共有的像素。</translation>
    </message>
    <message>
        <source>Share with defects</source>
        <translation>含缺陷的比例</translation>
    </message>
    <message>
        <source>The share of patches that is centred on a defect.</source>
        <translation>以缺陷为中心的图块所占比例。</translation>
    </message>
    <message>
        <source>Test-time augmentation (flips)</source>
        <translation>测试时增强（翻转）</translation>
    </message>
    <message>
        <source>A prediction is the mean of those for the picture as it is and mirrored.</source>
        <translation>预测结果取原图与各镜像图预测的平均值。</translation>
    </message>
    <message>
        <source>Least area</source>
        <translation>最小面积</translation>
    </message>
    <message>
        <source>Smaller predicted regions are dropped; in pixels of the picture.</source>
        <translation>更小的预测区域会被丢弃；单位为图片像素。</translation>
    </message>
    <message>
        <source>Weight of Dice</source>
        <translation>Dice 权重</translation>
    </message>
    <message>
        <source>How much the overlap with the labels counts in the loss.</source>
        <translation>与标注的重叠在损失中所占的分量。</translation>
    </message>
    <message>
        <source>Weight of cross-entropy</source>
        <translation>交叉熵权重</translation>
    </message>
    <message>
        <source>How much each pixel counts in the loss.</source>
        <translation>每个像素在损失中所占的分量。</translation>
    </message>
    <message>
        <source>Label smoothing</source>
        <translation>标签平滑</translation>
    </message>
    <message>
        <source>Keeps the network from being surer than the labels deserve.</source>
        <translation>防止网络比标注更有把握。</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批量</translation>
    </message>
    <message>
        <source>Patches or pictures in one step of learning.</source>
        <translation>每个学习步骤中的图块或图片数。</translation>
    </message>
    <message>
        <source>Optimiser</source>
        <translation>优化器</translation>
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
        <source>Keeps weights small, against learning by heart.</source>
        <translation>使权重保持较小，防止死记硬背。</translation>
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
        <source>Averaging</source>
        <translation>平均</translation>
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
        <source>How often in a run the held-out pictures are looked at.</source>
        <translation>一次训练中查看留出图片的次数。</translation>
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
        <source>The same seed draws the same patches and the same first weights.</source>
        <translation>相同的种子产生相同的图块和初始权重。</translation>
    </message>
    <message>
        <source>Variation</source>
        <translation>数据增强</translation>
    </message>
    <message>
        <source>How patches are varied, to learn what does not matter.</source>
        <translation>图块如何变化，以学会哪些因素无关紧要。</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>16 bits are quicker on a card; a processor computes with 32.</source>
        <translation>显卡上 16 位更快；处理器用 32 位计算。</translation>
    </message>
    <message>
        <source>Mixed precision</source>
        <translation>混合精度</translation>
    </message>
    <message>
        <source>O1: only layers that gain by it use 16 bits; O2: nearly all.</source>
        <translation>O1：仅受益的层使用 16 位；O2：几乎全部。</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>线程</translation>
    </message>
    <message>
        <source>How many prepare patches while the network learns.</source>
        <translation>网络学习时准备图块的线程数。</translation>
    </message>
    <message>
        <source>Workers</source>
        <translation>工作副本</translation>
    </message>
    <message>
        <source>Model replicas that share each batch, one per CPU core.</source>
        <translation>共同处理一个批次的模型副本数，每个占用一个 CPU 核心。</translation>
    </message>
    <message>
        <source>Profile</source>
        <translation>性能分析</translation>
    </message>
    <message>
        <source>Measure where the time of a step goes.</source>
        <translation>测量每个步骤的时间用在哪里。</translation>
    </message>
    <message>
        <source>Minutes</source>
        <translation>分钟</translation>
    </message>
    <message>
        <source>How long the run may take.</source>
        <translation>训练可用的时间。</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Where it learns.</source>
        <translation>在何处学习。</translation>
    </message>
    <message>
        <source>Initial weights</source>
        <translation>初始权重</translation>
    </message>
    <message>
        <source>The network</source>
        <translation>网络</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>输入与预处理</translation>
    </message>
    <message>
        <source>How it learns</source>
        <translation>学习方式</translation>
    </message>
    <message>
        <source>On this machine</source>
        <translation>在本机上</translation>
    </message>
    <message>
        <source>Grey values</source>
        <translation>灰度值</translation>
    </message>
    <message>
        <source>Fast</source>
        <translation>快速</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>均衡</translation>
    </message>
    <message>
        <source>Best</source>
        <translation>最佳</translation>
    </message>
    <message>
        <source>Plain</source>
        <translation>普通</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Left and right</source>
        <translation>左右翻转</translation>
    </message>
    <message>
        <source>Up and down</source>
        <translation>上下翻转</translation>
    </message>
    <message>
        <source>Quarter turns</source>
        <translation>90° 旋转</translation>
    </message>
    <message>
        <source>Small turns</source>
        <translation>小角度旋转</translation>
    </message>
    <message>
        <source>Zoom</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>Brightness</source>
        <translation>亮度</translation>
    </message>
    <message>
        <source>Contrast</source>
        <translation>对比度</translation>
    </message>
    <message>
        <source>Noise</source>
        <translation>噪声</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>ImageNet (fetched once)</source>
        <translation>ImageNet（仅下载一次）</translation>
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
        <source>{low}–{high} %</source>
        <translation>{low}–{high} %</translation>
    </message>
    <message>
        <source>no defect is labelled here</source>
        <translation>这里没有标注缺陷</translation>
    </message>
    <message>
        <source>{hits} of {total}</source>
        <translation>{hits} / {total}</translation>
    </message>
    <message>
        <source>too few for one number: 95 % sure of {range}</source>
        <translation>数量太少，不足以给出单个数字：95 % 置信区间 {range}</translation>
    </message>
    <message>
        <source>95 % sure of {range}</source>
        <translation>95 % 置信区间 {range}</translation>
    </message>
    <message>
        <source>{low}–{high}</source>
        <translation>{low}–{high}</translation>
    </message>
    <message>
        <source>{count} on {pictures} pictures</source>
        <translation>{pictures} 张图片上 {count} 处</translation>
    </message>
    <message>
        <source>px²</source>
        <translation>px²</translation>
    </message>
    <message>
        <source>µm²</source>
        <translation>µm²</translation>
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
        <source>{low} to {high} {unit}</source>
        <translation>{low} 至 {high} {unit}</translation>
    </message>
    <message>
        <source>{low}–{high} px²</source>
        <translation>{low}–{high} px²</translation>
    </message>
</context>
<context>
    <name>scale</name>
    <message>
        <source>Scale of the pictures</source>
        <translation>图片比例</translation>
    </message>
    <message>
        <source>The measured line is {length} long. Its true length in µm:</source>
        <translation>测量线长 {length}。它的实际长度（µm）：</translation>
    </message>
    <message>
        <source>Micrometres a pixel; measure a line of known length first (M):</source>
        <translation>每像素微米数；可先测量一条已知长度的线 (M)：</translation>
    </message>
</context>
<context>
    <name>search</name>
    <message>
        <source>Type a part of the name, or terms; all of them must hold. Examples: {examples}</source>
        <translation>输入名称的一部分或搜索条件，所有条件须同时满足。例如：{examples}</translation>
    </message>
    <message>
        <source>A minus before a term turns it round; a comma means or.</source>
        <translation>条件前加减号表示相反；逗号表示“或”。</translation>
    </message>
    <message>
        <source>There is no term {term}: – there are {known}.</source>
        <translation>没有条件 {term}:，可用的有 {known}。</translation>
    </message>
    <message>
        <source>{term}: nothing is called {value} – there is {known}.</source>
        <translation>{term}: 没有名为 {value} 的项，可用的有 {known}。</translation>
    </message>
    <message>
        <source>{term}: {value} is no number – write such as 5, &lt;5, &gt;=5 or 2..5.</source>
        <translation>{term}: {value} 不是数字，请写成 5、&lt;5、&gt;=5 或 2..5 的形式。</translation>
    </message>
    <message>
        <source>{term}: {value} is no date – write such as 2026-11-21, 2026-11 or &gt;2026.</source>
        <translation>{term}: {value} 不是日期，请写成 2026-11-21、2026-11 或 &gt;2026 的形式。</translation>
    </message>
    <message>
        <source>{term}: needs a value after the colon.</source>
        <translation>{term}: 冒号后需要一个值。</translation>
    </message>
</context>
<context>
    <name>self.self</name>
    <message>
        <source>Least size</source>
        <translation>最小面积</translation>
    </message>
</context>
<context>
    <name>sentences</name>
    <message>
        <source>All labelled pictures show the same part, so none could be held out: no score is shown.</source>
        <translation>所有已标注图片都是同一个零件，无法留出检验图片，因此不显示评分。</translation>
    </message>
    <message>
        <source>All {few} pictures with defects are learned from, so there is no score: from {n} on, some are held out.</source>
        <translation>{few} 张有缺陷的图片全部用于学习，因此没有评分：从 {n} 张起会留出一部分。</translation>
    </message>
    <message>
        <source>All {few} pictures are learned from, so there is no score: from {n} on, some are held out.</source>
        <translation>{few} 张图片全部用于学习，因此没有评分：从 {n} 张起会留出一部分。</translation>
    </message>
    <message>
        <source>The run that this one begins with has learned from every part, so none could be held out: no score is shown.</source>
        <translation>作为起点的训练已学习过所有部件，因此无法留出图片：不显示评分。</translation>
    </message>
    <message>
        <source>The network has learned from {n} of the held-out pictures before: the scores are too good.</source>
        <translation>网络以前学习过 {n} 张留出的图片：评分偏高。</translation>
    </message>
    <message>
        <source>Only {n} pictures with defects are held out: the scores are rough.</source>
        <translation>只留出了 {n} 张有缺陷的图片，评分只是粗略的。</translation>
    </message>
    <message>
        <source>Only {n} pictures are held out: the scores are rough.</source>
        <translation>只留出了 {n} 张图片，评分只是粗略的。</translation>
    </message>
    <message>
        <source>The network marks nothing at all on the held-out pictures, although there are defects on them.</source>
        <translation>留出的图片上有缺陷，但网络什么也没有标出。</translation>
    </message>
    <message>
        <source>It may still begin to. If it does not: more minutes, or more labelled defects.</source>
        <translation>它之后可能会开始标出。如果没有：请延长时间，或标注更多缺陷。</translation>
    </message>
    <message>
        <source>Train longer, or label more defects.</source>
        <translation>请延长训练时间，或标注更多缺陷。</translation>
    </message>
    <message>
        <source>The network is checked in Paddle instead.</source>
        <translation>改用 Paddle 检验网络。</translation>
    </message>
    <message>
        <source>The final score is missing; the model is kept.</source>
        <translation>缺少最终评分；模型已保留。</translation>
    </message>
    <message>
        <source>There was time to look at {n} of the {m} pictures of &apos;{split}&apos;.</source>
        <translation>时间只够检验“{split}”的 {m} 张图片中的 {n} 张。</translation>
    </message>
    <message>
        <source>The score is that of these.</source>
        <translation>评分只针对这些图片。</translation>
    </message>
    <message>
        <source>The memory of {device} did not suffice.</source>
        <translation>{device} 的内存不足。</translation>
    </message>
    <message>
        <source>Each batch is now computed in {n} parts, with the same result.</source>
        <translation>现在每个批次分 {n} 份计算，结果相同。</translation>
    </message>
    <message>
        <source>The patches are now of {n} pixels, which show less of what is around a defect.</source>
        <translation>图块现在为 {n} 像素，看到的缺陷周围区域变少。</translation>
    </message>
    <message>
        <source>The numbers ran away at step {n}.</source>
        <translation>第 {n} 步时数值发散。</translation>
    </message>
    <message>
        <source>Went back to step {n}; the learning rate is halved.</source>
        <translation>已退回第 {n} 步，学习率减半。</translation>
    </message>
    <message>
        <source>Its label before is used on.</source>
        <translation>继续使用它之前的标注。</translation>
    </message>
    <message>
        <source>It is left out; the training goes on with the others.</source>
        <translation>已跳过它，训练用其余图片继续。</translation>
    </message>
    <message>
        <source>The training goes on; saving is tried again in a minute.</source>
        <translation>训练继续，一分钟后重试保存。</translation>
    </message>
    <message>
        <source>The training goes on; the best weights so far stay.</source>
        <translation>训练继续；保留目前为止最好的权重。</translation>
    </message>
    <message>
        <source>The recipe was changed after this run had begun.</source>
        <translation>这次训练开始后，配方被改动过。</translation>
    </message>
    <message>
        <source>It goes on with the new recipe.</source>
        <translation>将按新的配方继续。</translation>
    </message>
    <message>
        <source>Only {n} of {m} weights of {run} fit into this network.</source>
        <translation>{run} 的 {m} 个权重中只有 {n} 个适合此网络。</translation>
    </message>
    <message>
        <source>The others begin untrained.</source>
        <translation>其余权重从头开始训练。</translation>
    </message>
    <message>
        <source>Looking at all held-out pictures</source>
        <translation>正在检验全部留出图片</translation>
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
        <source>The network could not be made usable: {why}</source>
        <translation>网络无法转为可用形式：{why}</translation>
    </message>
    <message>
        <source>{n} further labelled pictures cannot be used.</source>
        <translation>另有 {n} 张已标注的图片无法使用。</translation>
    </message>
    <message>
        <source>They are left out; the training goes on with the others.</source>
        <translation>这些图片被略过；训练用其余图片继续。</translation>
    </message>
    <message>
        <source>Training goes on; the weights are kept.</source>
        <translation>训练继续；权重已保留。</translation>
    </message>
    <message>
        <source>the memory does not suffice even for one small patch or picture; choose a smaller network</source>
        <translation>内存连一次处理一个小图块或一张图片都不够；请选择更小的网络</translation>
    </message>
    <message>
        <source>the numbers ran away {n} times, although the learning rate was halved each time</source>
        <translation>数值发散了 {n} 次，尽管每次都把学习率减半</translation>
    </message>
    <message>
        <source>the installed Paddle is the one for processors</source>
        <translation>安装的是仅支持处理器的 Paddle</translation>
    </message>
    <message>
        <source>no NVIDIA card can be used here (is its driver installed?)</source>
        <translation>这里没有可用的 NVIDIA 显卡（驱动是否已安装？）</translation>
    </message>
    <message>
        <source>there are {n} cards, numbered from 0, and no number {m}</source>
        <translation>共有 {n} 块显卡，从 0 开始编号，没有 {m} 号</translation>
    </message>
    <message>
        <source>this version trains on one card at a time; choose one of them, such as gpu:0</source>
        <translation>本版本一次只能用一块显卡训练；请选择其中一块，例如 gpu:0</translation>
    </message>
    <message>
        <source>it was stopped before its first checkpoint</source>
        <translation>它在第一个检查点之前就被停止了</translation>
    </message>
    <message>
        <source>no state was saved from which it could go on</source>
        <translation>没有保存可以继续的状态</translation>
    </message>
    <message>
        <source>it holds no state</source>
        <translation>其中没有状态</translation>
    </message>
    <message>
        <source>{name} is missing or damaged</source>
        <translation>{name} 缺失或已损坏</translation>
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
        <source>its weights are missing</source>
        <translation>它的权重缺失</translation>
    </message>
    <message>
        <source>its weights are not those of its widths ({why})</source>
        <translation>它的权重与其宽度不符（{why}）</translation>
    </message>
    <message>
        <source>devices are called auto, cpu, gpu, gpu:0, for several cards gpu:0,1, for several processes cpu:2</source>
        <translation>设备名称为 auto、cpu、gpu、gpu:0；多张显卡为 gpu:0,1；多个进程为 cpu:2</translation>
    </message>
    <message>
        <source>a card can be named only once</source>
        <translation>一张显卡只能写一次</translation>
    </message>
    <message>
        <source>it needs compute capability {need}; this card has {have}</source>
        <translation>它需要计算能力 {need}；此显卡为 {have}</translation>
    </message>
    <message>
        <source>of its process {n}: {why}</source>
        <translation>其第 {n} 个进程：{why}</translation>
    </message>
    <message>
        <source>the connection to another of its {n} processes broke ({why})</source>
        <translation>与其 {n} 个进程中另一个的连接中断（{why}）</translation>
    </message>
    <message>
        <source>its {n} processes could not meet ({why})</source>
        <translation>其 {n} 个进程未能连接到一起（{why}）</translation>
    </message>
    <message>
        <source>{n} processes cannot share so few; choose {m} or more</source>
        <translation>{n} 个进程无法分配这么少的图片；请选择 {m} 或更多</translation>
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
        <source>it was interrupted from the keyboard</source>
        <translation>它被键盘中断</translation>
    </message>
    <message>
        <source>a library that it needs is missing</source>
        <translation>缺少它需要的库</translation>
    </message>
    <message>
        <source>it crashed (access violation)</source>
        <translation>它崩溃了（访问冲突）</translation>
    </message>
    <message>
        <source>it crashed (stack overrun)</source>
        <translation>它崩溃了（栈溢出）</translation>
    </message>
    <message>
        <source>the memory of this computer was used up</source>
        <translation>这台计算机的内存已用尽</translation>
    </message>
    <message>
        <source>it was stopped</source>
        <translation>它被停止了</translation>
    </message>
    <message>
        <source>it was written by a newer workbench</source>
        <translation>它由更新版本的软件写成</translation>
    </message>
    <message>
        <source>it ran out of memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>it was killed by signal 9 (SIGKILL), most often because the memory of this computer was used up</source>
        <translation>它被信号 9 (SIGKILL) 终止，多半是因为电脑内存耗尽</translation>
    </message>
    <message>
        <source>it crashed by signal {n} ({name})</source>
        <translation>它因信号 {n} ({name}) 崩溃</translation>
    </message>
    <message>
        <source>it was ended by signal {n} ({name})</source>
        <translation>它被信号 {n} ({name}) 终止</translation>
    </message>
    <message>
        <source>it ended without saying why (exit code 0)</source>
        <translation>它没有说明原因就结束了（退出码 0）</translation>
    </message>
    <message>
        <source>its process is gone and has not said why</source>
        <translation>它的进程已消失，没有说明原因</translation>
    </message>
    <message>
        <source>it ended with exit code {n}</source>
        <translation>它以退出码 {n} 结束</translation>
    </message>
    <message>
        <source>{why}; its last words were: {words}</source>
        <translation>{why}；最后的输出是：{words}</translation>
    </message>
    <message>
        <source>a class of this name is there already</source>
        <translation>已有同名类别</translation>
    </message>
    <message>
        <source>it has no name</source>
        <translation>没有名称</translation>
    </message>
    <message>
        <source>there is no class of this id</source>
        <translation>没有这个编号的类别</translation>
    </message>
    <message>
        <source>no id is free (ids are 1 to {n} and never reused)</source>
        <translation>没有空闲编号（编号为 1 到 {n}，且不重复使用）</translation>
    </message>
    <message>
        <source>it has none</source>
        <translation>它没有标注</translation>
    </message>
    <message>
        <source>it is {w} x {h} pixels, and this picture is {width} x {height}</source>
        <translation>它为 {w} x {h} 像素，而这张图片为 {width} x {height}</translation>
    </message>
    <message>
        <source>it is gone</source>
        <translation>它已不存在</translation>
    </message>
    <message>
        <source>it does not exist</source>
        <translation>它不存在</translation>
    </message>
    <message>
        <source>it names no format</source>
        <translation>没有写明格式</translation>
    </message>
    <message>
        <source>two classes share an id</source>
        <translation>有两个类别使用同一个编号</translation>
    </message>
    <message>
        <source>the path {path} leaves the project</source>
        <translation>路径 {path} 超出了项目文件夹</translation>
    </message>
    <message>
        <source>it is a {mode} picture, not class ids</source>
        <translation>它是 {mode} 图片，而不是类别编号</translation>
    </message>
    <message>
        <source>too many pictures of this name</source>
        <translation>同名图片太多</translation>
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
        <source>this is not a picture file that can be read</source>
        <translation>这不是可读取的图片文件</translation>
    </message>
    <message>
        <source>it has {n} channels; grey and colour pictures can be read</source>
        <translation>它有 {n} 个通道；只能读取灰度和彩色图片</translation>
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
        <source>{run} did not know {n} of the {m} classes of this run.</source>
        <translation>{run} 不认识本次训练 {m} 个类别中的 {n} 个。</translation>
    </message>
    <message>
        <source>Their part of the last layer begins untrained.</source>
        <translation>最后一层中与它们对应的部分从头开始学习。</translation>
    </message>
    <message>
        <source>it trained a {before}, not a {now}</source>
        <translation>它训练的是 {before}，不是 {now}</translation>
    </message>
    <message>
        <source>its network is a different one</source>
        <translation>它的网络结构不同</translation>
    </message>
    <message>
        <source>A step takes {ms} ms, {share} of it waiting for pictures; {shares}.</source>
        <translation>每一步用时 {ms} 毫秒，其中 {share} 在等待图片；{shares}。</translation>
    </message>
    <message>
        <source>Writing the model card</source>
        <translation>正在写模型卡</translation>
    </message>
    <message>
        <source>there are no pictures in this folder</source>
        <translation>此文件夹中没有图片</translation>
    </message>
    <message>
        <source>no picture matches this pattern</source>
        <translation>没有图片符合此模式</translation>
    </message>
    <message>
        <source>it is being written at this moment</source>
        <translation>它正在被写入</translation>
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
        <source>Converting the network</source>
        <translation>正在转换网络</translation>
    </message>
    <message>
        <source>Measuring ranges for whole numbers</source>
        <translation>正在测量整数的数值范围</translation>
    </message>
    <message>
        <source>Choosing thresholds</source>
        <translation>正在选择阈值</translation>
    </message>
    <message>
        <source>Judging fewer bits on labelled pictures</source>
        <translation>正在已标注图片上评判低精度</translation>
    </message>
    <message>
        <source>Measuring the speed</source>
        <translation>正在测量速度</translation>
    </message>
    <message>
        <source>{engine} was the quickest for the usual picture.</source>
        <translation>对常见尺寸的图片，{engine} 最快。</translation>
    </message>
    <message>
        <source>{engine} was the quickest of those with 32 bits for the usual picture.</source>
        <translation>对常见尺寸的图片，{engine} 是 32 位格式中最快的。</translation>
    </message>
    <message>
        <source>Only {engine}, with fewer bits, reaches the {n} ms asked for.</source>
        <translation>只有低精度的 {engine} 能达到要求的 {n} 毫秒。</translation>
    </message>
    <message>
        <source>Nothing reaches the {n} ms asked for; {engine} is the quickest.</source>
        <translation>没有格式能达到要求的 {n} 毫秒；{engine} 最快。</translation>
    </message>
    <message>
        <source>Only formats with fewer bits are there.</source>
        <translation>只有低精度格式。</translation>
    </message>
    <message>
        <source>The engine &apos;{name}&apos; needs {library}, which is not installed.</source>
        <translation>引擎“{name}”需要 {library}，但未安装。</translation>
    </message>
    <message>
        <source>ONNX Runtime is built without TensorRT here.</source>
        <translation>此处的 ONNX Runtime 不含 TensorRT。</translation>
    </message>
    <message>
        <source>This CPU has no native bf16 support, so bf16 would not be faster.</source>
        <translation>此 CPU 不支持原生 bf16，使用 bf16 不会更快。</translation>
    </message>
    <message>
        <source>The format {name} cannot be made here: {why}.</source>
        <translation>此处无法生成格式 {name}：{why}。</translation>
    </message>
    <message>
        <source>This format is left out of the export.</source>
        <translation>导出中不含此格式。</translation>
    </message>
    <message>
        <source>{file} does not give its own golden results: {why}</source>
        <translation>{file} 未得出自己的基准结果：{why}</translation>
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
        <translation>这些不是本项目的类别</translation>
    </message>
    <message>
        <source>it has another size now</source>
        <translation>它的尺寸已改变</translation>
    </message>
    <message>
        <source>Fetching weights, MB</source>
        <translation>正在获取权重（MB）</translation>
    </message>
    <message>
        <source>Comparing with the network before pruning</source>
        <translation>正在与剪枝前的网络比较</translation>
    </message>
    <message>
        <source>What pruning has changed is not measured.</source>
        <translation>未测量剪枝带来的变化。</translation>
    </message>
    <message>
        <source>it wants to run {name}, which weights never need; nothing was run</source>
        <translation>它要运行 {name}，而权重从不需要这样做；没有运行任何内容</translation>
    </message>
    <message>
        <source>it holds something that is no array of numbers</source>
        <translation>其中含有不是数值数组的内容</translation>
    </message>
    <message>
        <source>it holds no table of weights</source>
        <translation>其中没有权重表</translation>
    </message>
    <message>
        <source>it holds no weights</source>
        <translation>其中没有权重</translation>
    </message>
    <message>
        <source>it is a file of PyTorch&apos;s own kind; save the weights as .safetensors and take that</source>
        <translation>这是 PyTorch 自有格式的文件；请把权重另存为 .safetensors 再使用</translation>
    </message>
    <message>
        <source>it is neither a safetensors nor a pdparams file ({why})</source>
        <translation>它既不是 safetensors 也不是 pdparams 文件（{why}）</translation>
    </message>
    <message>
        <source>it is larger than {n} GiB</source>
        <translation>它大于 {n} GiB</translation>
    </message>
    <message>
        <source>it asks for more memory than there is</source>
        <translation>它需要的内存超过现有内存</translation>
    </message>
    <message>
        <source>it is damaged ({why})</source>
        <translation>它已损坏（{why}）</translation>
    </message>
    <message>
        <source>it holds a ResNet-{n}, and this run trains a ResNet-{m}; set {setting}</source>
        <translation>其中是 ResNet-{n}，而本次训练的是 ResNet-{m}；请设置 {setting}</translation>
    </message>
    <message>
        <source>it holds a ResNet-{n}, and this run trains a ResNet-{m}; a UNet has none of that depth</source>
        <translation>其中是 ResNet-{n}，而本次训练的是 ResNet-{m}；UNet 没有该深度的编码器</translation>
    </message>
    <message>
        <source>{name} of a ResNet-{n} is missing in it</source>
        <translation>其中缺少 ResNet-{n} 的 {name}</translation>
    </message>
    <message>
        <source>{name} is {a} there and {b} in a plain ResNet-{n}</source>
        <translation>其中 {name} 的尺寸是 {a}，而普通 ResNet-{n} 中是 {b}</translation>
    </message>
    <message>
        <source>{name} holds numbers that are none</source>
        <translation>{name} 含有无效数值</translation>
    </message>
    <message>
        <source>there is no ResNet in it (neither conv1 nor layer1 by those names)</source>
        <translation>其中没有 ResNet（没有名为 conv1 或 layer1 的层）</translation>
    </message>
    <message>
        <source>it holds another kind of ResNet ({name} is not of a plain one)</source>
        <translation>其中是另一种 ResNet（{name} 不属于普通 ResNet）</translation>
    </message>
    <message>
        <source>it holds another network than a ResNet-18, -34 or -50 ({what})</source>
        <translation>其中不是 ResNet-18、-34 或 -50，而是其他网络（{what}）</translation>
    </message>
    <message>
        <source>only a ResNet can begin with them; for a UNet set encoder=resnet18 or encoder=resnet34</source>
        <translation>只有 ResNet 能以此开始；UNet 请设置 encoder=resnet18 或 encoder=resnet34</translation>
    </message>
    <message>
        <source>published weights are of the full width; set width=1.0</source>
        <translation>公开的权重是全宽度的；请设置 width=1.0</translation>
    </message>
    <message>
        <source>published weights need the large first layer; set input_size=128 or more</source>
        <translation>公开的权重需要大的首层；请把 input_size 设为 128 或更大</translation>
    </message>
    <message>
        <source>it is far too large</source>
        <translation>它实在太大</translation>
    </message>
    <message>
        <source>what came is not the file (its checksum differs)</source>
        <translation>收到的不是该文件（校验和不符）</translation>
    </message>
    <message>
        <source>say which run to begin with (--from RUN)</source>
        <translation>请说明从哪次训练开始（--from 训练）</translation>
    </message>
    <message>
        <source>only a UNet is pruned; a ResNet is made slimmer by its width</source>
        <translation>只能剪枝 UNet；ResNet 通过 width 变窄</translation>
    </message>
    <message>
        <source>only a UNet with the plain encoder is pruned; one with a ResNet is made slimmer by its width</source>
        <translation>只能剪枝普通编码器的 UNet；带 ResNet 的通过 width 变窄</translation>
    </message>
    <message>
        <source>the widths are chosen by hand already</source>
        <translation>宽度已由人工选定</translation>
    </message>
    <message>
        <source>that is less than one block of channels of any level</source>
        <translation>这不足任何一层的一个通道块</translation>
    </message>
    <message>
        <source>{key} must stay {value}, as in the run that it begins with</source>
        <translation>{key} 必须保持 {value}，与起始的训练一致</translation>
    </message>
    <message>
        <source>Validation image: the run uses the label it had at the start.</source>
        <translation>验证图片：使用训练开始时的标注进行评估。</translation>
    </message>
    <message>
        <source>Its verdict is not one of those that this run learns.</source>
        <translation>它的判定不在这次训练所学的判定之中。</translation>
    </message>
    <message>
        <source>A person has decided that it is held out.</source>
        <translation>已有人指定它为留出的图片。</translation>
    </message>
    <message>
        <source>It shows the same part as pictures that are held out.</source>
        <translation>它和留出的图片显示的是同一个零件。</translation>
    </message>
    <message>
        <source>This class was added after the run started. It is used from the next run on.</source>
        <translation>该类别在训练开始后添加，将用于下一次训练。</translation>
    </message>
    <message>
        <source>What was known of it before is used on.</source>
        <translation>继续使用之前已知的标注。</translation>
    </message>
    <message>
        <source>The label is not learned from.</source>
        <translation>这个标注不用于学习。</translation>
    </message>
    <message>
        <source>Labels were changed since step {step}, from which this run goes on: {n} of them.</source>
        <translation>训练从第 {step} 步继续；此后有 {n} 个标注被修改。</translation>
    </message>
    <message>
        <source>It learns from them as they are now; steps that were lost are not repeated exactly.</source>
        <translation>它按现在的标注学习；丢失的步骤不会完全一样地重复。</translation>
    </message>
    <message>
        <source>Chosen by hand.</source>
        <translation>由人工选定。</translation>
    </message>
    <message>
        <source>A processor trains in 32 bits: Paddle has no mixed precision there.</source>
        <translation>处理器以 32 位训练：Paddle 在处理器上没有混合精度。</translation>
    </message>
    <message>
        <source>A processor trains in 32 bits: Paddle has no mixed precision there. {asked} was asked for.</source>
        <translation>处理器以 32 位训练：Paddle 在处理器上没有混合精度。要求的是 {asked}。</translation>
    </message>
    <message>
        <source>This card multiplies 16-bit numbers several times faster.</source>
        <translation>此显卡计算 16 位数快数倍。</translation>
    </message>
    <message>
        <source>This card is too old to gain from 16-bit numbers.</source>
        <translation>此显卡太旧，使用 16 位数没有好处。</translation>
    </message>
    <message>
        <source>One thread a core prepares patches, at most four.</source>
        <translation>每个核心一个线程准备图块，最多四个。</translation>
    </message>
    <message>
        <source>Measured on {n} training pictures.</source>
        <translation>在 {n} 张训练图片上测得。</translation>
    </message>
    <message>
        <source>The pictures are in colour.</source>
        <translation>图片是彩色的。</translation>
    </message>
    <message>
        <source>The pictures are grey.</source>
        <translation>图片是灰度的。</translation>
    </message>
    <message>
        <source>The greatest value of the pictures&apos; number format.</source>
        <translation>图片数值格式的最大值。</translation>
    </message>
    <message>
        <source>Lines of the pictures agree in direction by {n}; {why}.</source>
        <translation>图片中线条方向的一致程度为 {n}；{why}。</translation>
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
        <source>The weights are of the full width.</source>
        <translation>权重是全宽的。</translation>
    </message>
    <message>
        <source>Not used: {name} has its own.</source>
        <translation>不使用：{name} 自带。</translation>
    </message>
    <message>
        <source>Deep networks learn steadily at this rate.</source>
        <translation>深层网络以此学习率稳定学习。</translation>
    </message>
    <message>
        <source>A graphics card affords full resolution.</source>
        <translation>显卡足以使用全分辨率。</translation>
    </message>
    <message>
        <source>Suitable for common GPUs. Halved automatically if GPU memory runs out.</source>
        <translation>适合常见 GPU；显存不足时自动减半。</translation>
    </message>
    <message>
        <source>Wide networks learn steadily at this rate.</source>
        <translation>宽网络以此学习率稳定学习。</translation>
    </message>
    <message>
        <source>A stem that shrinks the picture is several times faster.</source>
        <translation>缩小图片的入口快数倍。</translation>
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
        <source>The size for this quality on this kind of machine.</source>
        <translation>此类机器上与该质量对应的大小。</translation>
    </message>
    <message>
        <source>The learning-rate schedule follows the elapsed time, so training ends on time.</source>
        <translation>学习率按已用时间变化，确保按时结束。</translation>
    </message>
    <message>
        <source>The window closes when it is done.</source>
        <translation>完成后窗口将关闭。</translation>
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
        <source>it does not hold a JSON object</source>
        <translation>内容不是 JSON 对象</translation>
    </message>
    <message>
        <source>the name or the path of a source is too long</source>
        <translation>图片来源的名称或路径过长</translation>
    </message>
    <message>
        <source>its name is longer than {n} characters</source>
        <translation>名称超过 {n} 个字符</translation>
    </message>
    <message>
        <source>another folder has its name</source>
        <translation>已有其他文件夹使用该名称</translation>
    </message>
    <message>
        <source>it is locked</source>
        <translation>文件已被锁定</translation>
    </message>
    <message>
        <source>This processor has no arithmetic in bf16, so nothing would be won.</source>
        <translation>此处理器没有 bf16 运算，因此不会更快。</translation>
    </message>
    <message>
        <source>It is held out: the run is judged by it, with the label that it had at the start.</source>
        <translation>它是留出的图片：训练用它开始时的标注来检验。</translation>
    </message>
    <message>
        <source>Its class was added after this run had begun; the next run will learn it.</source>
        <translation>它的类别是这次训练开始后才添加的；下一次训练会学习它。</translation>
    </message>
    <message>
        <source>no direction prevails: quarter turns are as natural</source>
        <translation>没有主导方向：旋转 90° 同样自然</translation>
    </message>
    <message>
        <source>there are no directions: any turn is as natural</source>
        <translation>没有方向：任意旋转都同样自然</translation>
    </message>
    <message>
        <source>the grain runs one way: nothing is turned</source>
        <translation>纹理朝一个方向：不旋转</translation>
    </message>
    <message>
        <source>Layers that have learned already ask for small steps.</source>
        <translation>已学过的层需要小步幅。</translation>
    </message>
    <message>
        <source>Fits common cards; halved by itself if memory runs out.</source>
        <translation>适合常见显卡；内存不足时自动减半。</translation>
    </message>
    <message>
        <source>Slim networks learn most in few steps at this rate.</source>
        <translation>窄网络以此学习率在少量步骤中学得最多。</translation>
    </message>
    <message>
        <source>A UNet learns far more in the same number of steps.</source>
        <translation>UNet 在同样的步数内能学到多得多的东西。</translation>
    </message>
    <message>
        <source>In the same minutes a slim ResNet learns more, and gives fewer false alarms.</source>
        <translation>在相同的分钟数内，窄 ResNet 学得更多，误报更少。</translation>
    </message>
    <message>
        <source>The rate rises and falls with the clock: the end comes in time.</source>
        <translation>学习率随时间先升后降：按时结束。</translation>
    </message>
    <message>
        <source>It begins with nothing: so a plain UNet learns most in the same minutes.</source>
        <translation>从零开始：在相同的分钟数内，普通 UNet 学得最多。</translation>
    </message>
    <message>
        <source>Defects cover few pixels: how well they overlap counts as much as all the single pixels.</source>
        <translation>缺陷只占少量像素：其重叠程度与所有单个像素同等重要。</translation>
    </message>
    <message>
        <source>With wide layers its steps are a fifth quicker than those of Muon.</source>
        <translation>层较宽时，它的每一步比 Muon 快五分之一。</translation>
    </message>
    <message>
        <source>it is a whole number</source>
        <translation>应为整数</translation>
    </message>
    <message>
        <source>it holds no state of a training</source>
        <translation>不包含训练状态</translation>
    </message>
    <message>
        <source>a value is damaged ({why})</source>
        <translation>某个值已损坏（{why}）</translation>
    </message>
    <message>
        <source>it names no elapsed time</source>
        <translation>没有记录已用时间</translation>
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
        <source>its image {path} lies outside of the imported folder and is not read</source>
        <translation>其图片 {path} 位于导入文件夹之外，未读取</translation>
    </message>
    <message>
        <source>it cannot be read ({why})</source>
        <translation>无法读取（{why}）</translation>
    </message>
    <message>
        <source>the name of its image is longer than 248 bytes</source>
        <translation>其图片文件名超过 248 字节</translation>
    </message>
    <message>
        <source>gamma must be from 0.001 to 1000</source>
        <translation>gamma 必须在 0.001 到 1000 之间</translation>
    </message>
    <message>
        <source>local_contrast must be from 0 to 8</source>
        <translation>local_contrast 必须在 0 到 8 之间</translation>
    </message>
    <message>
        <source>low and high must be numbers, low not above high</source>
        <translation>low 和 high 必须是数字，且 low 不大于 high</translation>
    </message>
    <message>
        <source>it was written by a newer workbench (format {found})</source>
        <translation>它由更新版本的软件写成（格式 {found}）</translation>
    </message>
    <message>
        <source>it is not valid ({error})</source>
        <translation>表达式无效（{error}）</translation>
    </message>
    <message>
        <source>searching the name {key} with it takes too long</source>
        <translation>用它匹配名称 {key} 耗时过长</translation>
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
        <source>it is not a PNG file</source>
        <translation>它不是 PNG 文件</translation>
    </message>
    <message>
        <source>a row of it is damaged</source>
        <translation>其中一行数据已损坏</translation>
    </message>
    <message>
        <source>its tables are not those of an index</source>
        <translation>其中的表不是索引的表</translation>
    </message>
    <message>
        <source>Waiting for the process that still trains this run</source>
        <translation>正在等待仍在训练此运行的进程结束</translation>
    </message>
    <message>
        <source>Four of five defects are thicker than {n} pixels.</source>
        <translation>五分之四的缺陷厚度超过 {n} 像素。</translation>
    </message>
    <message>
        <source>The longest picture is {n} pixels; defects keep their surroundings.</source>
        <translation>最长的图片为 {n} 像素；缺陷保留其周围环境。</translation>
    </message>
    <message>
        <source>Tiles of a large picture share so much that their seams are not seen.</source>
        <translation>大图的图块相互重叠这么多,看不出接缝。</translation>
    </message>
    <message>
        <source>The network sees {n} pixels around each pixel: tiles that share so much answer as the whole would.</source>
        <translation>网络能看到每个像素周围 {n} 个像素：重叠这么多的图块，其结果与整图一致。</translation>
    </message>
    <message>
        <source>The mean of two looks, one at the mirrored picture, errs less; predicting takes twice as long.</source>
        <translation>看两次（其中一次看镜像图）取平均更准；预测耗时为两倍。</translation>
    </message>
    <message>
        <source>Quality &apos;fast&apos;: one look at a picture is enough.</source>
        <translation>质量为“快速”：看一次图片即可。</translation>
    </message>
    <message>
        <source>The median defect covers {n} of its picture.</source>
        <translation>缺陷的中位数占图片的 {n}。</translation>
    </message>
    <message>
        <source>Small batches give many steps in the same minutes.</source>
        <translation>小批量在相同时间内步骤更多。</translation>
    </message>
    <message>
        <source>Each core computes its part of every batch; more than eight gain little.</source>
        <translation>每个核心计算批量的一部分；超过八个收益甚微。</translation>
    </message>
    <message>
        <source>A graphics card affords it.</source>
        <translation>显卡足以胜任。</translation>
    </message>
    <message>
        <source>The median picture is {n} pixels long.</source>
        <translation>图片长度的中位数为 {n} 像素。</translation>
    </message>
    <message>
        <source>Many steps matter more than depth.</source>
        <translation>步骤多比深度更重要。</translation>
    </message>
    <message>
        <source>The rate rises and falls with the clock: the end comes in time, here after about {n} steps.</source>
        <translation>学习率随时间先升后降：按时结束，在这里大约走 {n} 步。</translation>
    </message>
    <message>
        <source>A look every {n} s; all of them together take at most a tenth of the time.</source>
        <translation>每 {n} 秒查看一次；全部查看最多占用十分之一的时间。</translation>
    </message>
    <message>
        <source>16 bits, where the card gains by them.</source>
        <translation>在显卡能从中受益时使用 16 位。</translation>
    </message>
    <message>
        <source>A processor learns in 32 bits.</source>
        <translation>处理器以 32 位学习。</translation>
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
        <source>Slim layers for a processor.</source>
        <translation>处理器适合窄层。</translation>
    </message>
    <message>
        <source>A larger network makes about {n} steps in this time on this machine: too few.</source>
        <translation>在这台机器上，较大的网络在这段时间内大约只能走 {n} 步：太少了。</translation>
    </message>
    <message>
        <source>In as few steps as the {n} to be expected here AdamW learns more.</source>
        <translation>这里预计只有 {n} 步，步数这么少时 AdamW 学得更多。</translation>
    </message>
    <message>
        <source>For wide layers, AdamW steps are 20% faster than Muon steps.</source>
        <translation>层较宽时，AdamW 每步比 Muon 快 20%。</translation>
    </message>
    <message>
        <source>As in the run that it begins with.</source>
        <translation>与作为起点的训练相同。</translation>
    </message>
    <message>
        <source>Half of that of the run that it begins with: it has learned already.</source>
        <translation>作为起点的训练的一半：它已经学过了。</translation>
    </message>
    <message>
        <source>{widths} of the run that it begins with, less {n} of the channels.</source>
        <translation>作为起点的训练的 {widths}，减去 {n} 的通道。</translation>
    </message>
    <message>
        <source>Small enough for many looks on a processor.</source>
        <translation>足够小，处理器上可多次查看。</translation>
    </message>
    <message>
        <source>there is no such setting</source>
        <translation>没有这个设置</translation>
    </message>
    <message>
        <source>it is one of {names}</source>
        <translation>只能是 {names}</translation>
    </message>
    <message>
        <source>must be an integer</source>
        <translation>必须是整数</translation>
    </message>
    <message>
        <source>it is a number</source>
        <translation>应为数字</translation>
    </message>
    <message>
        <source>it is a finite number</source>
        <translation>应为有限的数字</translation>
    </message>
    <message>
        <source>it must be above {n}</source>
        <translation>必须大于 {n}</translation>
    </message>
    <message>
        <source>it must be at least {n}</source>
        <translation>至少为 {n}</translation>
    </message>
    <message>
        <source>it must be below {n}</source>
        <translation>必须小于 {n}</translation>
    </message>
    <message>
        <source>it must be at most {n}</source>
        <translation>最多为 {n}</translation>
    </message>
    <message>
        <source>it is true or false</source>
        <translation>应为 true 或 false</translation>
    </message>
    <message>
        <source>it is a list</source>
        <translation>应为列表</translation>
    </message>
    <message>
        <source>it is text</source>
        <translation>应为文本</translation>
    </message>
    <message>
        <source>a UNet whose encoder is {name} has the stem and the widths of that; set width instead</source>
        <translation>编码器为 {name} 的 UNet 使用其自带的入口与宽度；请改设宽度</translation>
    </message>
    <message>
        <source>it is still learning, and its model may change</source>
        <translation>它仍在学习，模型可能改变</translation>
    </message>
    <message>
        <source>it marks defects and gives no verdicts</source>
        <translation>它标出缺陷，不给出判定</translation>
    </message>
    <message>
        <source>it is being painted on</source>
        <translation>正在绘制</translation>
    </message>
</context>
<context>
    <name>words</name>
    <message>
        <source>Something unexpected happened: {why}</source>
        <translation>发生了意外情况：{why}</translation>
    </message>
    <message>
        <source>Details are in {log}.</source>
        <translation>详情见 {log}。</translation>
    </message>
    <message>
        <source>{number} %</source>
        <translation>{number} %</translation>
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
        <source>{n} µm</source>
        <translation>{n} µm</translation>
    </message>
    <message>
        <source>{n} mm</source>
        <translation>{n} mm</translation>
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
        <source>{n} µm²</source>
        <translation>{n} µm²</translation>
    </message>
    <message>
        <source>{n} mm²</source>
        <translation>{n} mm²</translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>Learning from {train} pictures, checked on {held}.</source>
        <translation>用 {train} 张图片学习，用 {held} 张检验。</translation>
    </message>
    <message>
        <source>Processor</source>
        <translation>处理器</translation>
    </message>
    <message>
        <source>{n} pictures a second.</source>
        <translation>每秒 {n} 张图片。</translation>
    </message>
    <message>
        <source>The GPU waits for pictures {share} of the time.</source>
        <translation>GPU 有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>Training waits for pictures {share} of the time.</source>
        <translation>训练有 {share} 的时间在等待图片。</translation>
    </message>
    <message>
        <source>It ended without a usable model.</source>
        <translation>训练已结束，但没有得到可用的模型。</translation>
    </message>
    <message>
        <source>Stopped. The best model so far is kept.</source>
        <translation>已停止。目前最佳的模型已保留。</translation>
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
        <source>No held-out picture has a defect, so there is no score.</source>
        <translation>留出的图片都没有缺陷，因此没有评分。</translation>
    </message>
    <message>
        <source>{found} of {defects} defects detected (validation)</source>
        <translation>验证集缺陷检出 {found} / {defects}</translation>
    </message>
    <message>
        <source>{n} false alarms a picture</source>
        <translation>每张图片 {n} 处误报</translation>
    </message>
    <message>
        <source>No picture is held out, so there is no score.</source>
        <translation>没有留出图片，因此没有评分。</translation>
    </message>
    <message>
        <source>Judged {right} of {total} held-out pictures right ({share})</source>
        <translation>留出的 {total} 张图片判对 {right} 张（{share}）</translation>
    </message>
    <message>
        <source>It gives exactly the results that you saw here.</source>
        <translation>它给出的结果与您在这里看到的完全一致。</translation>
    </message>
    <message>
        <source>It agrees with what you saw here on {share} of all pixels.</source>
        <translation>它与您在这里看到的结果有 {share} 的像素一致。</translation>
    </message>
</context>
</TS>
