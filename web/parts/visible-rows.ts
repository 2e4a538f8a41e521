/** Which rows of a long list are drawn. */
export interface VisibleRows {
  readonly first: number;
  /** One more than the last. */
  readonly end: number;
  /** Pixels above the first row that is drawn. */
  readonly offset: number;
  /** Pixels of all rows. */
  readonly height: number;
}

/** Browsers cannot draw boxes higher than this; rows beyond it are reached with the keyboard and with filters. */
const MAX_HEIGHT = 16_000_000;

/** The rows in a window of `viewHeight` pixels at `scrollTop`, with some more on both sides. */
export function visibleRows(options: {
  readonly count: number;
  readonly rowHeight: number;
  readonly scrollTop: number;
  readonly viewHeight: number;
  readonly overscan?: number;
}): VisibleRows {
  const { count, rowHeight, scrollTop, viewHeight, overscan = 6 } = options;
  const height = Math.min(MAX_HEIGHT, count * rowHeight);
  const top = Math.max(0, Math.min(scrollTop, height - viewHeight));
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const end = Math.min(count, Math.ceil((top + viewHeight) / rowHeight) + overscan);
  return { first, end, offset: first * rowHeight, height };
}

/** Where to scroll so that a row is seen whole; `scrollTop` when it is. */
export function scrollToRow(options: {
  readonly index: number;
  readonly rowHeight: number;
  readonly scrollTop: number;
  readonly viewHeight: number;
}): number {
  const { index, rowHeight, scrollTop, viewHeight } = options;
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  if (top + rowHeight > scrollTop + viewHeight) return top + rowHeight - viewHeight;
  return scrollTop;
}
