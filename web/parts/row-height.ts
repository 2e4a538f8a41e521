/** Where a row has room for several lines. */
const NARROW = '(max-width: 760px)';

/** The height of rows whose second line must be read whole: on a narrow page it wraps (`row-wrap`). */
export function wrappedRowHeight(): number {
  return matchMedia(NARROW).matches ? 104 : 60;
}
