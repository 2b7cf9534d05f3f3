// Counts become line integrals, carried on beyond the detector as the first step's transforms want them.
//
// Compiled with COUNT, the type of the counts. A block of threads makes a line, of any length; its threads never
// wait for each other, as each value is made of counts and flats alone, and so are those around a gap.
//
// The bits are the CPU's (correct/lines.py, correct/logarithm.py): the same operations, rounded one by one. A
// product that is added to something is `__fmul_rn` or `__dmul_rn`, or the compiler would round both at once.

struct Line {  // of the detector, in one projection
    const COUNT* counts;
    const float *dark, *before, *after;  // the flats around it, less the dark
    float weight, gain;
    int columns;
};

// NaN in a pixel without a signal. The difference is exact enough in double precision to be rounded to the same
// number as one in single precision, where that suffices.
__device__ float transmission(const Line& line, int column)
{
    float beam = line.before[column];
    if (line.before != line.after) beam += __fmul_rn(line.weight, line.after[column] - beam);
    float signal = (float)((double)line.counts[column] - (double)line.dark[column]);
    return signal / beam * line.gain;
}

// With x = 2^k (1 + f) it is k ln 2 + 2 artanh(f / (2 + f)), see correct/logarithm.py.
__device__ float logarithm(float x)
{
    const int root_half = 0x3f3504f3;
    int bits = __float_as_int(x) - root_half;
    float k = (float)(bits >> 23);
    float f = __int_as_float((bits & 0x7fffff) + root_half) - 1.0f;
    float s = f / (2.0f + f);
    float square = __fmul_rn(s, s);
    float series = (float)(2.0 / 7) + __fmul_rn(square, (float)(2.0 / 9));
    series = (float)(2.0 / 5) + __fmul_rn(square, series);
    series = __fmul_rn(square, (float)(2.0 / 3) + __fmul_rn(square, series));
    float tail = __fmul_rn(k, 1.42860682030941723e-6f);
    return __fmul_rn(k, 0.693145751953125f) + (f - (__fmul_rn(s, f - series) - tail));
}

__device__ float clipped(float transmission)
{
    return -logarithm(transmission < 1e-6f ? 1e-6f : transmission > 10.0f ? 10.0f : transmission);
}

// The nearest pixel with a signal, in steps of 1 or -1; -1 or `columns` if there is none.
__device__ int find_signal(const Line& line, int column, int step)
{
    while (column >= 0 && column < line.columns && isnan(transmission(line, column))) column += step;
    return column;
}

__device__ float line_integral(const Line& line, int column)
{
    float here = transmission(line, column);
    if (!isnan(here)) return clipped(here);
    int left = find_signal(line, column, -1), right = find_signal(line, column, 1);
    if (left < 0 && right == line.columns) return 0.0f;
    if (left < 0) return clipped(transmission(line, right));
    double start = clipped(transmission(line, left));
    if (right == line.columns) return (float)start;
    double slope = (clipped(transmission(line, right)) - start) / (right - left);
    return (float)(__dmul_rn(slope, column - left) + start);
}

// counts          (row, angle, column)
// dark            (row, column)
// beams           (flat, row, column) flats less the dark, NaN in pixels without a signal
// before, after   (angle,) the flats around each projection
// weights, gains  (angle,) of the flat after, and of the projection
// shares          (column,) factors of the detector's columns
// lines           (row, angle from `first` on, place) result
// angles          of the counts
// some            of the lines
// length          of a line
// edge            whether the outer columns are carried on; else there is nothing
extern "C" __global__ void integrate(const COUNT* counts, const float* dark, const float* beams,
                                     const int* before, const int* after, const float* weights,
                                     const float* gains, const float* shares, float* lines, int rows, int angles,
                                     int columns, int first, int some, int length, int edge)
{
    int row = blockIdx.x / some, angle = first + blockIdx.x % some;
    size_t start = (size_t)row * columns, frame = (size_t)rows * columns;
    Line line = {
        counts + ((size_t)row * angles + angle) * columns,
        dark + start,
        beams + before[angle] * frame + start,
        beams + after[angle] * frame + start,
        weights[angle],
        gains[angle],
        columns,
    };
    int turn = columns + (length - columns) / 2;  // from where on a line's end is nearer
    for (int place = threadIdx.x; place < length; place += blockDim.x) {
        int column = place < columns ? place : place < turn ? columns - 1 : 0;
        float value = place < columns || edge ? line_integral(line, column) * shares[column] : 0.0f;
        lines[(size_t)blockIdx.x * length + place] = value;
    }
}
