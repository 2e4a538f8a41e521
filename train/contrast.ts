/** Two texts about one thing, as numbers of terms. */
export interface Pair {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** Pairs of one kind are alike and never held against each other. */
  readonly kind: number;
}

/** How training runs; the defaults are what the shipped file was made with. */
export interface Settings {
  readonly epochs: number;
  readonly batch: number;
  readonly temperature: number;
  /** Step of the shared map, and of what each term learns for itself. */
  readonly mapRate: number;
  readonly termRate: number;
  readonly seed: number;
}

/** Small, fast, and the same everywhere (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/**
 * Learns by contrast: the two sides of a pair shall be nearer to each other than to the sides of the
 * other pairs of a batch. A term's vector is its given one under a shared linear map, plus an offset
 * of its own; through the map, words that no tool uses learn too.
 */
export function trainByContrast(
  given: Float32Array,
  map: Float32Array,
  pairs: readonly Pair[],
  from: number,
  to: number,
  settings: Settings,
  report: (epoch: number, loss: number) => void,
): Float32Array {
  const { epochs, batch, temperature, mapRate, termRate, seed } = settings;
  const count = given.length / from;
  const offsets = new Float32Array(count * to);
  const slope = new Float32Array(count * to);
  const squares = new Float32Array(count).fill(1e-8);
  const mapSlope = new Float32Array(map.length);
  const mapMean = new Float32Array(map.length);
  const mapSquares = new Float32Array(map.length);
  const random = createRandom(seed);
  const order = pairs.map((_, i) => i);
  const left = createSide(batch, from, to);
  const right = createSide(batch, from, to);
  const likeness = new Float32Array(batch * batch);
  const force = new Float32Array(batch * batch);
  const steps = epochs * Math.floor(pairs.length / batch);
  let step = 0;

  for (let epoch = 0; epoch < epochs; epoch++) {
    for (let i = order.length - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [order[i], order[j]] = [order[j]!, order[i]!];
    }
    let loss = 0;
    let batches = 0;
    for (let begin = 0; begin + batch <= order.length; begin += batch) {
      const chosen = order.slice(begin, begin + batch).map((i) => pairs[i]!);
      for (const [i, pair] of chosen.entries()) {
        embed(left, i, pair.left);
        embed(right, i, pair.right);
      }
      loss += contrast(chosen);
      pull(left, right.units, false);
      pull(right, left.units, true);
      const touched = new Set<number>();
      mapSlope.fill(0);
      for (const [i, pair] of chosen.entries()) {
        spread(left, i, pair.left, touched);
        spread(right, i, pair.right, touched);
      }
      step++;
      const cooling = 1 - step / (steps + 1);
      for (const term of touched) move(term, termRate * cooling);
      moveMap(mapRate * cooling);
      batches++;
    }
    report(epoch, loss / Math.max(1, batches));
  }

  const result = new Float32Array(count * to);
  for (let term = 0; term < count; term++) {
    for (let o = 0; o < to; o++) {
      let value = offsets[term * to + o]!;
      for (let i = 0; i < from; i++) value += given[term * from + i]! * map[i * to + o]!;
      result[term * to + o] = value;
    }
  }
  return result;

  function embed(side: Side, at: number, terms: Int32Array): void {
    const { sums, units, lengths } = side;
    sums.fill(0, at * from, (at + 1) * from);
    units.fill(0, at * to, (at + 1) * to);
    for (const term of terms) {
      for (let i = 0; i < from; i++) sums[at * from + i] = sums[at * from + i]! + given[term * from + i]!;
      for (let o = 0; o < to; o++) units[at * to + o] = units[at * to + o]! + offsets[term * to + o]!;
    }
    for (let i = 0; i < from; i++) {
      const value = sums[at * from + i]!;
      for (let o = 0; o < to; o++) units[at * to + o] = units[at * to + o]! + value * map[i * to + o]!;
    }
    let square = 1e-12;
    for (let o = 0; o < to; o++) square += units[at * to + o]! ** 2;
    lengths[at] = Math.sqrt(square);
    for (let o = 0; o < to; o++) units[at * to + o] = units[at * to + o]! / lengths[at]!;
  }

  /** Fills `force` with the slope of the loss by each likeness; answers the loss. */
  function contrast(chosen: readonly Pair[]): number {
    for (let i = 0; i < batch; i++) {
      for (let j = 0; j < batch; j++) {
        let product = 0;
        for (let o = 0; o < to; o++) product += left.units[i * to + o]! * right.units[j * to + o]!;
        const twins = i !== j && chosen[i]!.kind === chosen[j]!.kind;
        // Likenesses are at most 1, so subtracting 1 keeps every power in range.
        likeness[i * batch + j] = twins ? 0 : Math.exp((product - 1) / temperature);
      }
    }
    let loss = 0;
    force.fill(0);
    for (const [across, down] of [
      [batch, 1],
      [1, batch],
    ] as const) {
      for (let i = 0; i < batch; i++) {
        let total = 0;
        for (let j = 0; j < batch; j++) total += likeness[i * across + j * down]!;
        for (let j = 0; j < batch; j++) {
          const at = i * across + j * down;
          const share = likeness[at]! / total;
          force[at] = force[at]! + (share - (i === j ? 1 : 0)) / (2 * batch * temperature);
          if (i === j) loss -= Math.log(Math.max(share, 1e-30)) / (2 * batch);
        }
      }
    }
    return loss;
  }

  /** The slope of the loss by each unnormalised sum of one side. */
  function pull(side: Side, others: Float32Array, turned: boolean): void {
    const { slopes, units, lengths } = side;
    slopes.fill(0);
    for (let i = 0; i < batch; i++) {
      for (let j = 0; j < batch; j++) {
        const weight = force[turned ? j * batch + i : i * batch + j]!;
        if (weight > -1e-9 && weight < 1e-9) continue;
        for (let o = 0; o < to; o++) slopes[i * to + o] = slopes[i * to + o]! + weight * others[j * to + o]!;
      }
      let along = 0;
      for (let o = 0; o < to; o++) along += slopes[i * to + o]! * units[i * to + o]!;
      for (let o = 0; o < to; o++) {
        slopes[i * to + o] = (slopes[i * to + o]! - along * units[i * to + o]!) / lengths[i]!;
      }
    }
  }

  function spread({ slopes, sums }: Side, at: number, terms: Int32Array, touched: Set<number>): void {
    for (const term of terms) {
      touched.add(term);
      for (let o = 0; o < to; o++) slope[term * to + o] = slope[term * to + o]! + slopes[at * to + o]!;
    }
    for (let i = 0; i < from; i++) {
      const value = sums[at * from + i]!;
      for (let o = 0; o < to; o++) mapSlope[i * to + o] = mapSlope[i * to + o]! + value * slopes[at * to + o]!;
    }
  }

  /** One step of a term (Adagrad, one memory for each term). */
  function move(term: number, rate: number): void {
    let square = 0;
    for (let o = 0; o < to; o++) square += slope[term * to + o]! ** 2;
    squares[term] = squares[term]! + square / to;
    const factor = rate / Math.sqrt(squares[term]!);
    for (let o = 0; o < to; o++) offsets[term * to + o] = offsets[term * to + o]! - factor * slope[term * to + o]!;
    slope.fill(0, term * to, (term + 1) * to);
  }

  /** One step of the map (Adam). */
  function moveMap(rate: number): void {
    for (let i = 0; i < map.length; i++) {
      mapMean[i] = 0.9 * mapMean[i]! + 0.1 * mapSlope[i]!;
      mapSquares[i] = 0.999 * mapSquares[i]! + 0.001 * mapSlope[i]! ** 2;
      const mean = mapMean[i]! / (1 - 0.9 ** step);
      const square = mapSquares[i]! / (1 - 0.999 ** step);
      map[i] = map[i]! - (rate * mean) / (Math.sqrt(square) + 1e-8);
    }
  }
}

/** One side of a batch: sums of given vectors, their unit vectors after the map, lengths before, and slopes. */
interface Side {
  readonly sums: Float32Array;
  readonly units: Float32Array;
  readonly lengths: Float32Array;
  readonly slopes: Float32Array;
}

function createSide(batch: number, from: number, to: number): Side {
  return {
    sums: new Float32Array(batch * from),
    units: new Float32Array(batch * to),
    lengths: new Float32Array(batch),
    slopes: new Float32Array(batch * to),
  };
}
