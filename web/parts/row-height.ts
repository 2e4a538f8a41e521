/** Where a row has room for several lines. */
const NARROW = '(max-width: 760px)';

/** Whether the page is narrow. */
export function isNarrow(): boolean {
  return matchMedia(NARROW).matches;
}

/** The height of rows in a list that is too long for rows as high as their text: on a narrow page the second line wraps once. */
export function wrappedRowHeight(): number {
  return isNarrow() ? 80 : 60;
}
