// Verdict rule of a segmentation, from the metadata of a line model: the same verdicts as Defect Workbench.
//
//     new VerdictRule(property)     property(key): value of the metadata, such as LineModel.Property
//     rule.Verdict(classMap, scores, height, width, edgeDistance, zones)
//
// classMap: output of the model. scores: for each pixel 255 times the greatest probability of a class, rounded.
// edgeDistance, zones: outputs of the model of the names edge_distance and zones; null if it has none.

using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

namespace LineExample
{
    public sealed class VerdictRule
    {
        private const double Close = 1e-6;  // pixels

        private readonly string kind, good, bad;
        private readonly double mass, exponent = 1;
        private readonly double? unsure;
        private readonly int border, borderExponent;
        private readonly Dictionary<int, string> names = new Dictionary<int, string>();
        private readonly Dictionary<int, int> minAreas = new Dictionary<int, int>();
        private readonly List<Limit> limits = new List<Limit>();

        public VerdictRule(Func<string, string> property)
        {
            kind = property("verdict_rule");
            string[] ids = Lines(property("class_ids")), texts = Lines(property("class_names"));
            var areas = Lines(property("min_areas_px"));
            for (var n = 0; n < ids.Length; n++)
            {
                names[Whole(ids[n])] = texts[n];
                minAreas[Whole(ids[n])] = Whole(areas[n]);
            }
            if (!Exists)
                return;
            good = property("verdict_good");
            bad = property("verdict_bad");
            mass = Number(property("verdict_anomaly_score"));
            var band = property("verdict_unsure_score");
            unsure = band == "" ? (double?)null : Number(band);
            exponent = Number(property("anomaly_exponent"));
            border = Whole(property("verdict_border_px"));
            borderExponent = Whole(property("border_exponent"));
            foreach (var line in Lines(property("verdict_limits")))
            {
                var words = line.Split(' ');
                var limit = new Limit { ClassId = Whole(words[0]), Most = Whole(words[1]), Outcome = words[2] };
                foreach (var pair in words.Skip(3).Select(word => word.Split('=')))
                    limit.Conditions[pair[0]] = Number(pair[1]);
                limits.Add(limit);
            }
        }

        public bool Exists
        {
            get { return kind != "" && kind != "none"; }
        }

        public string Verdict(byte[] classMap, byte[] scores, int height, int width, float[] edgeDistance, byte[] zones)
        {
            var regions = FindRegions(classMap, scores, height, width, edgeDistance, zones);
            var score = Rounded(regions.Sum(region => region.Mass));
            var deciding = regions.Select(region => kind == "mass").ToArray();
            string outcome = null;
            if (kind == "mass")
            {
                if (mass > 0 ? score > mass : regions.Count > 0)
                    outcome = "reject";
            }
            else
            {
                foreach (var worst in new[] { "reject", "rework", "unsure" }.TakeWhile(name => outcome == null))
                    foreach (var limit in limits.Where(limit => limit.Outcome == worst))
                    {
                        var found = Matches(limit, regions);
                        if (found.Count(one => one) <= limit.Most)
                            continue;
                        outcome = worst;
                        for (var n = 0; n < found.Length; n++)
                            deciding[n] |= found[n];
                    }
            }
            if (outcome == null && unsure.HasValue && (unsure > 0 ? score > unsure : regions.Count > 0))
                return "unsure";
            if (outcome == null)
                return good;
            return outcome != "reject" ? outcome : bad != "" ? bad : HeaviestClass(regions, deciding);
        }

        private struct Run
        {
            public int Row, First, End;  // End: column after the last pixel
        }

        private sealed class Region
        {
            public int ClassId;
            public double Area, Peak, Mass, Edge, Length, Width;
            public bool[] Zones;  // true for each zone in which the region has a pixel
            public readonly List<Run> Runs = new List<Run>();
        }

        private sealed class Limit
        {
            public int ClassId, Most;
            public string Outcome;
            public readonly Dictionary<string, double> Conditions = new Dictionary<string, double>();
        }

        private static string[] Lines(string text)
        {
            return text.Split(new[] { '\n' }, StringSplitOptions.RemoveEmptyEntries);
        }

        private static double Number(string text)
        {
            return double.Parse(text, CultureInfo.InvariantCulture);
        }

        private static int Whole(string text)
        {
            return int.Parse(text, CultureInfo.InvariantCulture);
        }

        /// <summary>Return an anomaly score as Defect Workbench states it.</summary>
        private static double Rounded(double value)
        {
            if (value <= 0)
                return 0;
            var factor = Math.Pow(10, value >= 0.1 ? 3 : 3 - Math.Floor(Math.Log10(value)));
            return Math.Round(value * factor) / factor;  // halves to the even number
        }

        private List<Region> FindRegions(
            byte[] classMap, byte[] scores, int height, int width, float[] edgeDistance, byte[] zones)
        {
            var regions = new List<Region>();
            var seen = new bool[classMap.Length];
            var pixels = new List<int>();
            for (var start = 0; start < height * width; start++)
            {
                int id = classMap[start];
                if (id == 0 || seen[start] || !names.ContainsKey(id))
                    continue;
                pixels.Clear();
                pixels.Add(start);
                seen[start] = true;
                for (var n = 0; n < pixels.Count; n++)  // the 8 neighbors
                {
                    int y = pixels[n] / width, x = pixels[n] % width;
                    for (var row = Math.Max(0, y - 1); row <= Math.Min(height - 1, y + 1); row++)
                        for (var column = Math.Max(0, x - 1); column <= Math.Min(width - 1, x + 1); column++)
                        {
                            var at = row * width + column;
                            if (seen[at] || classMap[at] != id)
                                continue;
                            seen[at] = true;
                            pixels.Add(at);
                        }
                }
                if (pixels.Count < minAreas[id])
                    continue;
                pixels.Sort();
                var region = new Region { ClassId = id, Edge = double.PositiveInfinity };
                region.Zones = new bool[zones == null ? 0 : zones.Length / classMap.Length];
                double weight = 0;
                foreach (var at in pixels)
                {
                    int y = at / width, x = at % width;
                    var last = region.Runs.Count - 1;
                    if (last >= 0 && region.Runs[last].Row == y && region.Runs[last].End == x)
                        region.Runs[last] = new Run { Row = y, First = region.Runs[last].First, End = x + 1 };
                    else
                        region.Runs.Add(new Run { Row = y, First = x, End = x + 1 });
                    for (var zone = 0; zone < region.Zones.Length; zone++)
                        region.Zones[zone] |= zones[zone * classMap.Length + at] != 0;
                    if (edgeDistance != null)
                        region.Edge = Math.Min(region.Edge, edgeDistance[at]);
                    if (y < border || x < border || y >= height - border || x >= width - border)
                        continue;
                    region.Edge = Math.Min(region.Edge, Math.Min(Math.Min(x, y), Math.Min(width - 1 - x, height - 1 - y)));
                    region.Area += 1;
                    region.Peak = Math.Max(region.Peak, scores[at] / 255.0);
                    weight += Math.Pow(scores[at] / 255.0, exponent);
                }
                if (region.Area == 0)
                    continue;
                region.Mass = weight * Math.Pow(region.Area / pixels.Count, borderExponent);
                Measure(region);
                regions.Add(region);
            }
            return regions;
        }

        /// <summary>Set the greatest and the least distance of two parallel lines that enclose the pixels.</summary>
        private static void Measure(Region region)
        {
            var points = new List<double[]>();
            foreach (var run in region.Runs)
                foreach (var x in new[] { run.First, run.End })
                    foreach (var y in new[] { run.Row, run.Row + 1 })
                        points.Add(new double[] { x, y });
            points = points.OrderBy(point => point[0]).ThenBy(point => point[1]).ToList();
            var hull = new List<double[]>();
            for (var side = 0; side < 2; side++)  // lower and upper half of the convex hull
            {
                var least = hull.Count + 2;
                foreach (var point in points)
                {
                    while (hull.Count >= least && Cross(hull[hull.Count - 2], hull[hull.Count - 1], point) <= 0)
                        hull.RemoveAt(hull.Count - 1);
                    hull.Add(point);
                }
                hull.RemoveAt(hull.Count - 1);
                points.Reverse();
            }
            region.Width = double.PositiveInfinity;
            for (var n = 0; n < hull.Count; n++)
            {
                double[] a = hull[n], b = hull[(n + 1) % hull.Count];
                region.Length = Math.Max(region.Length, hull.Max(point => Distance(point[0] - a[0], point[1] - a[1])));
                var farthest = Math.Max(0, hull.Max(point => Cross(a, b, point)));
                region.Width = Math.Min(region.Width, farthest / Distance(b[0] - a[0], b[1] - a[1]));
            }
        }

        private static double Cross(double[] a, double[] b, double[] c)
        {
            return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        }

        private static double Distance(double x, double y)
        {
            return Math.Sqrt(x * x + y * y);
        }

        private static double Distance(Region one, Region other)
        {
            return one.Runs.Min(a => other.Runs.Min(b => Distance(
                Math.Max(0, Math.Max(b.First - a.End + 1, a.First - b.End + 1)), a.Row - b.Row)));
        }

        private static bool[] Matches(Limit limit, List<Region> regions)
        {
            var given = limit.Conditions;
            Func<string, double, double, bool> reaches =
                (key, value, close) => given.ContainsKey(key) && value >= given[key] - close;
            Func<string, double, bool> from = (key, value) => reaches(key, value, Close);
            Func<string, double, bool> allows = (key, value) => !given.ContainsKey(key) || from(key, value);
            var either = given.ContainsKey("area") || given.ContainsKey("probability");
            var found = regions.Select(region =>
                (limit.ClassId == 0 || limit.ClassId == region.ClassId)
                && (!either || from("area", region.Area) || reaches("probability", region.Peak, 1e-9))
                && !from("area_below", region.Area) && allows("length", region.Length)
                && !from("length_below", region.Length) && allows("width", region.Width)
                && !from("width_below", region.Width) && !from("edge", region.Edge) && allows("inner", region.Edge)
                && (!given.ContainsKey("zone") || region.Zones[(int)given["zone"]])).ToArray();
            if (!given.ContainsKey("apart"))
                return found;
            var near = new bool[found.Length];
            for (var one = 0; one < found.Length; one++)
                for (var other = one + 1; other < found.Length; other++)
                    if (found[one] && found[other] && Distance(regions[one], regions[other]) < given["apart"] - Close)
                        near[one] = near[other] = true;
            return near;
        }

        private string HeaviestClass(List<Region> regions, bool[] deciding)
        {
            var masses = new SortedDictionary<int, double>();
            for (var n = 0; n < regions.Count; n++)
                if (deciding[n])
                    masses[regions[n].ClassId] =
                        (masses.ContainsKey(regions[n].ClassId) ? masses[regions[n].ClassId] : 0) + regions[n].Mass;
            return masses.Count == 0 ? "NG" : names[masses.OrderByDescending(pair => pair.Value).First().Key];
        }
    }
}
