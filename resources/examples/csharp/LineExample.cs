// Runs the line model of an export with ONNX Runtime.
//
//     LineExample LINE_FOLDER              test the model with its reference image; exit status 0 if it agrees
//     LineExample LINE_FOLDER IMAGE...     print the area of each class and the verdict of each image
//
// LINE_FOLDER is the folder `line` of the export. The model contains all preprocessing: it reads the pixels of one image
// of a fixed size, as they are stored. Build and run: dotnet run -- ../../line

using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using Microsoft.ML.OnnxRuntime;
using OpenCvSharp;

namespace LineExample
{
    /// <summary>Outputs of the line model for one image.</summary>
    public sealed class Result
    {
        public byte[] ClassMap;          // segmentation: class ids by pixel, 0 for the background
        public int[] ClassAreas;         // pixels by class
        public float[] Probabilities;    // classification: by verdict
        public int Verdict = -1;         // classification: index, -1 if unsure
        public string RuleVerdict;       // segmentation with a verdict rule
    }

    /// <summary>Line model. Run may be called from several threads.</summary>
    public sealed class LineModel : IDisposable
    {
        private readonly InferenceSession session;
        private readonly int height, width, channels;
        private readonly bool isWide;  // 16-bit images
        private readonly VerdictRule rule;

        public LineModel(string path)
        {
            session = new InferenceSession(path);
            IsSegmentation = Property("task") == "segmentation";
            NodeMetadata input;
            if (Property("task") == "" || !session.InputMetadata.TryGetValue("image", out input))
                throw new InvalidDataException("This is not a line model.");
            height = input.Dimensions[1];  // 1, height, width, channels
            width = input.Dimensions[2];
            channels = input.Dimensions[3];
            isWide = input.ElementType == typeof(ushort);
            rule = IsSegmentation ? new VerdictRule(Property) : null;
        }

        public bool IsSegmentation { get; }

        /// <summary>Value of the metadata, "" if it is missing.</summary>
        public string Property(string key)
        {
            string value;
            return session.ModelMetadata.CustomMetadataMap.TryGetValue(key, out value) ? value : "";
        }

        /// <summary>List of the metadata, which has one line per entry.</summary>
        public string[] Lines(string key)
        {
            return Property(key).Split(new[] { '\n' }, StringSplitOptions.RemoveEmptyEntries);
        }

        /// <summary>Read an image of the size and number type of the model: gray, or RGB with interleaved channels.</summary>
        public Mat Read(string path)
        {
            var mode = ImreadModes.AnyDepth | (channels == 3 ? ImreadModes.Color : ImreadModes.Grayscale);
            var image = Cv2.ImRead(path, mode);
            if (image.Empty())
                throw new InvalidDataException(path + " cannot be read as an image.");
            var depth = isWide ? MatType.CV_16U : MatType.CV_8U;
            if (image.Rows != height || image.Cols != width || image.Depth() != depth)
                throw new InvalidDataException(
                    path + " has " + image.Rows + "x" + image.Cols + " pixels of OpenCV's type " + image.Depth()
                    + ", the model needs " + height + "x" + width + " of type " + depth + ".");
            if (channels == 3)
                Cv2.CvtColor(image, image, ColorConversionCodes.BGR2RGB);
            return image;
        }

        public Result Run(Mat image)
        {
            var shape = new long[] { 1, height, width, channels };
            var bytes = new byte[(long)height * width * channels * (isWide ? 2 : 1)];
            Marshal.Copy(image.Data, bytes, 0, bytes.Length);  // an image that was read has no gaps between its rows
            using (var input = isWide
                ? OrtValue.CreateTensorValueFromMemory(ToUInt16(bytes), shape)
                : OrtValue.CreateTensorValueFromMemory(bytes, shape))
            using (var options = new RunOptions())
            {
                // Only the requested outputs are copied: the probabilities of a whole image are large.
                var names = IsSegmentation
                    ? new List<string> { "class_map", "class_areas" }
                    : new List<string> { "verdict", "probabilities" };
                if (IsSegmentation && rule.Exists)
                    names.AddRange(new[] { "probabilities", "edge_distance", "zones" }.Where(
                        session.OutputMetadata.ContainsKey));
                using (var outputs = session.Run(options, new[] { "image" }, new[] { input }, names))
                {
                    if (IsSegmentation)
                        return Segmentation(
                            outputs[0].GetTensorDataAsSpan<byte>().ToArray(),
                            outputs[1].GetTensorDataAsSpan<int>().ToArray(),
                            name => names.Contains(name) ? outputs[names.IndexOf(name)] : null);
                    return new Result
                    {
                        Verdict = outputs[0].GetTensorDataAsSpan<int>()[0],
                        Probabilities = outputs[1].GetTensorDataAsSpan<float>().ToArray(),
                    };
                }
            }
        }

        private Result Segmentation(byte[] classMap, int[] classAreas, Func<string, OrtValue> output)
        {
            var result = new Result { ClassMap = classMap, ClassAreas = classAreas };
            if (!rule.Exists)
                return result;
            OrtValue edge = output("edge_distance"), zones = output("zones");
            result.RuleVerdict = rule.Verdict(
                classMap, Scores(output("probabilities").GetTensorDataAsSpan<float>().ToArray()), height, width,
                edge == null ? null : edge.GetTensorDataAsSpan<float>().ToArray(),
                zones == null ? null : zones.GetTensorDataAsSpan<byte>().ToArray());
            return result;
        }

        /// <summary>Return 255 times the greatest probability of a class. probabilities: that of the background first.</summary>
        private byte[] Scores(float[] probabilities)
        {
            var scores = new byte[height * width];
            for (var n = scores.Length; n < probabilities.Length; n++)
                scores[n % scores.Length] = Math.Max(scores[n % scores.Length], (byte)Math.Round(255 * probabilities[n]));
            return scores;
        }

        public void Dispose()
        {
            session.Dispose();
        }

        private static ushort[] ToUInt16(byte[] bytes)
        {
            var values = new ushort[bytes.Length / 2];
            Buffer.BlockCopy(bytes, 0, values, 0, bytes.Length);
            return values;
        }
    }

    public static class Program
    {
        private const double Agreement = 0.9999;   // least share of equal pixels of the reference map
        private const double Difference = 1e-4;    // largest difference of a probability

        public static int Main(string[] arguments)
        {
            if (arguments.Length == 0)
            {
                Console.Error.WriteLine("usage: LineExample LINE_FOLDER [IMAGE...]");
                return 2;
            }
            try
            {
                var folder = arguments[0];
                var path = Path.Combine(folder, "model.onnx");
                if (!File.Exists(path))
                    throw new FileNotFoundException(path + " does not exist: export the model with the format onnx-line.");
                using (var model = new LineModel(path))
                {
                    if (arguments.Length == 1)
                        return Test(model, folder) == 0 ? 0 : 1;
                    foreach (var name in arguments.Skip(1))
                        using (var image = model.Read(name))
                            Print(model, name, model.Run(image));
                }
                return 0;
            }
            catch (Exception error) when (error is IOException || error is InvalidDataException || error is OnnxRuntimeException)
            {
                Console.Error.WriteLine(error.Message);
                return 1;
            }
        }

        private static void Print(LineModel model, string name, Result result)
        {
            Console.WriteLine(name);
            if (!model.IsSegmentation)
            {
                var verdicts = model.Lines("verdicts");
                Console.WriteLine("  verdict: " + (result.Verdict < 0 ? "unsure" : verdicts[result.Verdict]));
                for (var n = 0; n < verdicts.Length; n++)
                    Console.WriteLine("  " + verdicts[n] + ": probability " + Text(result.Probabilities[n], "F4"));
                return;
            }
            if (result.RuleVerdict != null)
                Console.WriteLine("  verdict: " + result.RuleVerdict);
            var names = model.Lines("class_names");
            var scale = model.Property("um_per_pixel");
            for (var n = 0; n < names.Length; n++)
            {
                var line = "  " + names[n] + ": " + result.ClassAreas[n] + " px";
                if (scale != "")
                    line += ", " + Text(result.ClassAreas[n] * Math.Pow(Number(scale), 2), "F1") + " um2";
                Console.WriteLine(line);
            }
        }

        /// <summary>Return the number of differences from the stored results of the reference image, each printed.</summary>
        private static int Test(LineModel model, string folder)
        {
            var gray = Path.Combine(folder, "reference.pgm");
            Result result;
            using (var image = model.Read(File.Exists(gray) ? gray : Path.Combine(folder, "reference.ppm")))
                result = model.Run(image);
            Print(model, "reference image", result);
            var differences = 0;
            var allowedPixels = 0.0;
            if (model.IsSegmentation)
                using (var map = Cv2.ImRead(Path.Combine(folder, "reference_map.pgm"), ImreadModes.Grayscale))
                {
                    if (map.Empty())
                        throw new InvalidDataException("reference_map.pgm cannot be read as an image.");
                    var expected = new byte[map.Rows * map.Cols];
                    Marshal.Copy(map.Data, expected, 0, expected.Length);
                    allowedPixels = Math.Floor((1 - Agreement) * expected.Length);
                    var different = expected.Length == result.ClassMap.Length
                        ? expected.Where((id, n) => id != result.ClassMap[n]).Count()
                        : expected.Length;
                    if (different > allowedPixels)
                    {
                        Console.WriteLine("  the class map differs at " + different + " pixels");
                        differences++;
                    }
                }
            var ids = model.Lines("class_ids");
            foreach (var line in File.ReadAllLines(Path.Combine(folder, "reference.txt")))
            {
                var words = line.Split(' ');
                double expected, found, allowed;
                switch (words[0])
                {
                    case "verdict":
                        expected = Number(words[1]);
                        found = result.Verdict;
                        allowed = 0;
                        break;
                    case "probability":
                        expected = Number(words[2]);
                        found = result.Probabilities[int.Parse(words[1], CultureInfo.InvariantCulture)];
                        allowed = Difference;
                        break;
                    default:  // area
                        expected = Number(words[2]);
                        found = result.ClassAreas[Array.IndexOf(ids, words[1])];
                        allowed = allowedPixels;
                        break;
                }
                if (!(Math.Abs(found - expected) <= allowed))
                {
                    Console.WriteLine("  " + line + ": found " + Text(found, "G"));
                    differences++;
                }
            }
            Console.WriteLine(differences == 0
                ? "The results agree with the reference."
                : "The results DIFFER from the reference.");
            return differences;
        }

        private static double Number(string text)
        {
            return double.Parse(text, CultureInfo.InvariantCulture);
        }

        private static string Text(double value, string format)
        {
            return value.ToString(format, CultureInfo.InvariantCulture);
        }
    }
}
