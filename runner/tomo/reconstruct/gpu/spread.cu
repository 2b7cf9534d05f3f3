// Second step: spectra are spread onto the grid, one tile in each block of threads.
//
// Compiled with LANES (slices), OWNERS (of a tile's rows), TILE_ROWS, TILE_COLUMNS, WIDTH (cells that a point
// touches along one axis) and PIECE (points of a piece), see layout.py. A block has LANES x OWNERS threads, and as
// much shared memory as `Layout.shared` says. OWNERS is a power of two.
//
// Only one thread ever touches a cell of a tile: the one of its slice and of its row's owner. Each cell therefore
// sums its points in the order of the pieces, with nothing atomic.

#define THREADS (LANES * OWNERS)
#define BATCH (THREADS / PIECE)  // pieces at a time, a point for each thread
#define PITCH (LANES + 1)        // of a cell: neighbouring cells of a slice lie in different banks

struct Piece {  // pieces.py
    double step_u, step_v;
    int period, row, column, k, first, count;
};

struct Spot {  // where a point falls, and how it is weighted
    int u, v;
    float along_u[WIDTH], along_v[WIDTH];
};

// The first cell, and the weights of all. Places are as exact as on the CPU, and rounded in the same way: so are
// the cells of a point that lies just between two.
__device__ int find_weights(double place, const float* coefficients, float* weights)
{
    double first = ceil(place - 0.5 * WIDTH);
    float x = (float)(first - place + 0.5 * (WIDTH - 1));
    for (int tap = 0; tap < WIDTH; ++tap) {
        float weight = coefficients[8 * WIDTH + tap];
        for (int degree = WIDTH - 1; degree >= 0; --degree)
            weight = weight * x + coefficients[8 * degree + tap];
        weights[tap] = weight;
    }
    return (int)first;
}

__device__ void add(float2* tile, const Spot& spot, float2 value, int owner)
{
    for (int tap = (owner - spot.u) & (OWNERS - 1); tap < WIDTH; tap += OWNERS) {
        int row = spot.u + tap;
        if (row < 0 || row >= TILE_ROWS) continue;
        float re = value.x * spot.along_u[tap], im = value.y * spot.along_u[tap];
#pragma unroll
        for (int step = 0; step < WIDTH; ++step) {
            int column = spot.v + step;
            if (column < 0 || column >= TILE_COLUMNS) continue;
            float2* cell = tile + (row * TILE_COLUMNS + column) * PITCH;
            cell->x += re * spot.along_v[step];
            cell->y += im * spot.along_v[step];
        }
    }
}

// spectra       (angle, point, slice)
// pieces        of all tiles
// starts        (tile + 1,) the first piece of each
// order         (tile,) which tile a block takes
// coefficients  (WIDTH + 1, 8) of the window's polynomials, from the constant up
// grid          (slice, rows, columns) result
extern "C" __global__ void spread_tiles(const float2* spectra, const Piece* pieces, const int* starts,
                                        const int* order, const float* coefficients, float2* grid, int rows,
                                        int columns)
{
    extern __shared__ float2 shared[];
    float2* tile = shared;
    Spot* spots = (Spot*)(shared + TILE_ROWS * TILE_COLUMNS * PITCH);
    int lane = threadIdx.x, owner = threadIdx.y, thread = owner * LANES + lane;
    int number = order[blockIdx.x], end = starts[number + 1];

    for (int cell = thread; cell < TILE_ROWS * TILE_COLUMNS * PITCH; cell += THREADS)
        tile[cell] = make_float2(0.0f, 0.0f);

    for (int batch = starts[number]; batch < end; batch += BATCH) {
        __syncthreads();  // the tile is empty, or the spots before were used
        int mine = batch + thread / PIECE;
        int step = thread % PIECE;
        if (mine < end && step < abs(pieces[mine].count)) {
            Piece piece = pieces[mine];
            Spot& spot = spots[thread];
            double u = piece.period + __dmul_rn(piece.k + step, piece.step_u);
            double v = __dmul_rn(piece.k + step, piece.step_v);
            spot.u = find_weights(u, coefficients, spot.along_u) - piece.row;
            spot.v = find_weights(v, coefficients, spot.along_v) - piece.column;
        }
        __syncthreads();
        for (int part = 0; part < BATCH && batch + part < end; ++part) {
            Piece piece = pieces[batch + part];
            float sign = piece.count < 0 ? -1.0f : 1.0f;
            const float2* point = spectra + (size_t)piece.first * LANES + lane;
            for (int k = 0; k < abs(piece.count); ++k, point += LANES)
                add(tile + lane, spots[part * PIECE + k], make_float2(point->x, sign * point->y), owner);
        }
    }
    __syncthreads();

    int across = (columns + TILE_COLUMNS - 1) / TILE_COLUMNS;
    int first_row = number / across * TILE_ROWS, first_column = number % across * TILE_COLUMNS;
    for (int item = thread; item < LANES * TILE_ROWS * TILE_COLUMNS; item += THREADS) {
        int cell = item % (TILE_ROWS * TILE_COLUMNS), slice = item / (TILE_ROWS * TILE_COLUMNS);
        int row = first_row + cell / TILE_COLUMNS, column = first_column + cell % TILE_COLUMNS;
        if (row < rows && column < columns)
            grid[((size_t)slice * rows + row) * columns + column] = tile[cell * PITCH + slice];
    }
}
