/**
 * A map for what comes and goes thousands of times a second. It holds boxes and empties those that are
 * taken out. A plain `Map` changes its table every few such rounds, and the old table points to the new
 * one: once a table has grown old for the collector, everything that was in a later one when it was left
 * is kept until the next full collection, and copied twice before that.
 */
export class InFlightMap<Key, Value extends object> {
  private readonly boxes = new Map<Key, { value: Value | undefined }>();

  get(key: Key): Value | undefined {
    return this.boxes.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    this.boxes.set(key, { value });
  }

  get isEmpty(): boolean {
    return this.boxes.size === 0;
  }

  /** Takes a value out. */
  take(key: Key): Value | undefined {
    const box = this.boxes.get(key);
    if (!box) return undefined;
    this.boxes.delete(key);
    const { value } = box;
    box.value = undefined;
    return value;
  }

  /** In the order in which they came; what is taken out meanwhile is passed over. */
  *[Symbol.iterator](): Generator<[Key, Value]> {
    for (const [key, { value }] of this.boxes) if (value) yield [key, value];
  }
}
