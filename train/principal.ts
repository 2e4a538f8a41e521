/**
 * The `from` × `to` map onto the directions in which vectors differ most (orthogonal iteration on
 * their covariance): where training begins when fewer dimensions are wanted.
 */
export function principalMap(vectors: Float32Array, from: number, to: number): Float32Array {
  const covariance = new Float64Array(from * from);
  for (let at = 0; at < vectors.length; at += from) {
    for (let i = 0; i < from; i++) {
      const value = vectors[at + i]!;
      for (let j = 0; j < from; j++) covariance[i * from + j] = covariance[i * from + j]! + value * vectors[at + j]!;
    }
  }
  let columns: Float64Array[] = Array.from({ length: to }, (_, c) =>
    Float64Array.from({ length: from }, (_, i) => (i === c ? 1 : 0)),
  );
  for (let round = 0; round < (from === to ? 0 : 60); round++) {
    columns = orthonormal(
      columns.map((column) =>
        Float64Array.from({ length: from }, (_, i) => {
          let sum = 0;
          for (let j = 0; j < from; j++) sum += covariance[i * from + j]! * column[j]!;
          return sum;
        }),
      ),
    );
  }
  const map = new Float32Array(from * to);
  for (const [c, column] of columns.entries()) for (let i = 0; i < from; i++) map[i * to + c] = column[i]!;
  return map;
}

/** Gram–Schmidt. */
function orthonormal(columns: Float64Array[]): Float64Array[] {
  const done: Float64Array[] = [];
  for (const column of columns) {
    for (const other of done) {
      const along = dot(column, other);
      for (let i = 0; i < column.length; i++) column[i] = column[i]! - along * other[i]!;
    }
    const length = Math.sqrt(dot(column, column)) || 1;
    done.push(column.map((value) => value / length));
  }
  return done;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
