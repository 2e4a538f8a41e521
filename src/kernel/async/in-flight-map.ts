/**
 * A map for what comes and goes thousands of times a second. It holds boxes and empties those that are
 * taken out. A plain `Map` changes its table every few such rounds, and the old table points to the new
 * one: once a table has grown old for the collector, everything that was in a later one when it was left
 * is kept until the next full collection, and copied twice before that. One that is alone needs no table: most hosts ask one
 * thing at a time, and thousands of them ask nothing.
 */
export class InFlightMap<Key, Value extends object> {
  /** The one that came while there was no other: it is older than all in the boxes. */
  private soleKey: Key | undefined;
  private sole: Value | undefined;
  private boxes: Map<Key, { value: Value | undefined }> | undefined;

  get(key: Key): Value | undefined {
    if (this.sole !== undefined && this.soleKey === key) return this.sole;
    return this.boxes?.get(key)?.value;
  }

  set(key: Key, value: Value): void {
    if (this.isEmpty || (this.sole !== undefined && this.soleKey === key)) {
      this.soleKey = key;
      this.sole = value;
      return;
    }
    this.boxes ??= new Map();
    this.boxes.set(key, { value });
  }

  get isEmpty(): boolean {
    return this.sole === undefined && (this.boxes === undefined || this.boxes.size === 0);
  }

  /** Takes a value out. */
  take(key: Key): Value | undefined {
    if (this.sole !== undefined && this.soleKey === key) {
      const { sole } = this;
      this.sole = undefined;
      this.soleKey = undefined;
      return sole;
    }
    const box = this.boxes?.get(key);
    if (!box) return undefined;
    this.boxes!.delete(key);
    const { value } = box;
    box.value = undefined;
    return value;
  }

  /** In the order in which they came; what is taken out meanwhile is passed over. */
  *[Symbol.iterator](): Generator<[Key, Value]> {
    if (this.sole !== undefined) yield [this.soleKey!, this.sole];
    for (const [key, { value }] of this.boxes ?? []) if (value) yield [key, value];
  }
}
