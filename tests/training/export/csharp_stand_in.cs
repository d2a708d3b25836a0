// Stand-in for the parts of ONNX Runtime's and OpenCvSharp's C# interfaces that the C# example uses, with the signatures
// of Microsoft.ML.OnnxRuntime 1.20 and OpenCvSharp4 4.10. It lets a compiler without NuGet check the example, and runs
// the model by the command in LINE_RUNNER: `command FOLDER` reads FOLDER/input and writes one file per output.

using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Text;

namespace Microsoft.ML.OnnxRuntime
{
    public class OnnxRuntimeException : Exception { }

    public class RunOptions : IDisposable { public void Dispose() { } }

    public class NodeMetadata
    {
        public int[] Dimensions { get; set; }
        public Type ElementType { get; set; }
    }

    public class ModelMetadata
    {
        public Dictionary<string, string> CustomMetadataMap { get; set; }
    }

    public interface IDisposableReadOnlyCollection<T> : IReadOnlyList<T>, IDisposable { }

    public class OrtValues : List<OrtValue>, IDisposableReadOnlyCollection<OrtValue> { public void Dispose() { } }

    public class OrtValue : IDisposable
    {
        public byte[] Bytes;
        public long[] Shape;

        public static OrtValue CreateTensorValueFromMemory<T>(T[] data, long[] shape) where T : struct
        {
            var bytes = new byte[data.Length * Marshal.SizeOf(typeof(T))];
            Buffer.BlockCopy(data, 0, bytes, 0, bytes.Length);
            return new OrtValue { Bytes = bytes, Shape = shape };
        }

        public ReadOnlySpan<T> GetTensorDataAsSpan<T>() where T : struct
        {
            var values = new T[Bytes.Length / Marshal.SizeOf(typeof(T))];
            Buffer.BlockCopy(Bytes, 0, values, 0, Bytes.Length);
            return new ReadOnlySpan<T>(values);
        }

        public void Dispose() { }
    }

    public class InferenceSession : IDisposable
    {
        private readonly string folder;

        public InferenceSession(string path)
        {
            folder = Path.Combine(Path.GetTempPath(), "line-" + Guid.NewGuid().ToString("N"));
            Directory.CreateDirectory(folder);
            Execute(path);
            var values = new Dictionary<string, string>();
            foreach (var file in Directory.GetFiles(folder, "property.*"))
                values[Path.GetFileName(file).Substring("property.".Length)] = File.ReadAllText(file, Encoding.UTF8);
            ModelMetadata = new ModelMetadata { CustomMetadataMap = values };
            var words = File.ReadAllText(Path.Combine(folder, "shape")).Split(' ');
            var type = words[0] == "uint16" ? typeof(ushort) : typeof(byte);
            var sides = words.Skip(1).Select(int.Parse).ToArray();
            InputMetadata = new Dictionary<string, NodeMetadata>
            {
                { "image", new NodeMetadata { Dimensions = sides, ElementType = type } },
            };
            OutputMetadata = File.ReadAllLines(Path.Combine(folder, "outputs")).ToDictionary(
                name => name, name => new NodeMetadata());
            model = path;
        }

        private readonly string model;
        public ModelMetadata ModelMetadata { get; }
        public IReadOnlyDictionary<string, NodeMetadata> InputMetadata { get; }
        public IReadOnlyDictionary<string, NodeMetadata> OutputMetadata { get; }

        public IDisposableReadOnlyCollection<OrtValue> Run(RunOptions runOptions, IReadOnlyCollection<string> inputNames,
            IReadOnlyCollection<OrtValue> inputValues, IReadOnlyCollection<string> outputNames)
        {
            File.WriteAllBytes(Path.Combine(folder, "input"), inputValues.First().Bytes);
            Execute(model);
            var outputs = new OrtValues();
            foreach (var name in outputNames)
                outputs.Add(new OrtValue { Bytes = File.ReadAllBytes(Path.Combine(folder, "output." + name)) });
            return outputs;
        }

        public void Dispose() { Directory.Delete(folder, true); }

        private void Execute(string path)
        {
            var words = Environment.GetEnvironmentVariable("LINE_RUNNER").Split('|');
            var arguments = "\"" + words[1] + "\" \"" + path + "\" \"" + folder + "\"";
            var start = new ProcessStartInfo(words[0], arguments) { UseShellExecute = false };
            using (var process = Process.Start(start))
            {
                process.WaitForExit();
                if (process.ExitCode != 0)
                    throw new OnnxRuntimeException();
            }
        }
    }
}

namespace OpenCvSharp
{
    [Flags]
    public enum ImreadModes { Grayscale = 0, Color = 1, AnyDepth = 2 }

    public enum ColorConversionCodes { BGR2RGB = 4 }

    public struct MatType { public const int CV_8U = 0, CV_16U = 2; }

    public class Mat : IDisposable
    {
        public int Rows { get; set; }
        public int Cols { get; set; }
        public IntPtr Data { get; set; }
        public int Type;

        public bool Empty() { return Data == IntPtr.Zero; }
        public int Depth() { return Type; }
        public void Dispose() { Marshal.FreeHGlobal(Data); }
    }

    public static class Cv2
    {
        // Binary PGM and PPM as the export writes them: three lines, then the pixels.
        public static Mat ImRead(string fileName, ImreadModes flags = ImreadModes.Color)
        {
            var bytes = File.ReadAllBytes(fileName);
            var lines = Encoding.ASCII.GetString(bytes, 0, Math.Min(40, bytes.Length)).Split('\n');
            var start = lines.Take(3).Sum(line => line.Length + 1);
            var sides = lines[1].Split(' ').Select(int.Parse).ToArray();
            var mat = new Mat { Cols = sides[0], Rows = sides[1] };
            mat.Type = lines[2] == "65535" ? MatType.CV_16U : MatType.CV_8U;
            if (mat.Type == MatType.CV_16U)
                for (var n = start; n < bytes.Length; n += 2)
                    Array.Reverse(bytes, n, 2);
            mat.Data = Marshal.AllocHGlobal(bytes.Length - start);
            Marshal.Copy(bytes, start, mat.Data, bytes.Length - start);
            return mat;
        }

        public static void CvtColor(Mat src, Mat dst, ColorConversionCodes code) { }  // ImRead has returned RGB
    }
}
