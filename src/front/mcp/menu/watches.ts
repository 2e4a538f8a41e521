/** The resources that one host has subscribed to, each with what ends its subscription. */
export class Watches {
  private readonly stops = new Map<string, Promise<() => void>>();

  /** Watches a resource, unless that is done already; rejects when it cannot be watched. */
  async begin(uri: string, watch: () => Promise<() => void>): Promise<void> {
    const known = this.stops.get(uri);
    const stop = known ?? watch();
    if (!known) this.stops.set(uri, stop);
    try {
      await stop;
    } catch (thrown) {
      if (this.stops.get(uri) === stop) this.stops.delete(uri);
      throw thrown;
    }
  }

  /** Ends the watch of a resource, also of one that is still being begun. */
  end(uri: string): void {
    const stop = this.stops.get(uri);
    this.stops.delete(uri);
    // Whoever began it is told why it failed.
    stop?.then(
      (end) => end(),
      () => undefined,
    );
  }

  /** Ends all of them. */
  close(): void {
    for (const uri of this.stops.keys()) this.end(uri);
  }
}
