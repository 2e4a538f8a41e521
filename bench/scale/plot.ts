/** One line of a plot. */
export interface Line {
  readonly name: string;
  readonly colour: string;
  readonly points: ReadonlyArray<readonly [x: number, y: number]>;
  readonly dashed?: boolean;
}

/** One pair of axes, both logarithmic. */
export interface Panel {
  readonly title: string;
  readonly lines: readonly Line[];
}

const WIDTH = 380;
const HEIGHT = 260;
const EDGE = { left: 56, right: 96, top: 34, bottom: 36 };
/** Room that a label needs. */
const LABEL = 13;
/** Greys that can be read on white and on black. */
const INK = '#7d8590';
const GRID = '#7d859040';

/** Panels side by side as an SVG without a background, so that it fits a light page and a dark one. */
export function plot(panels: readonly Panel[]): string {
  const body = panels.map((panel, i) => `<g transform="translate(${i * WIDTH} 0)">${draw(panel)}</g>`).join('\n');
  const size = `width="${WIDTH * panels.length}" height="${HEIGHT}" viewBox="0 0 ${WIDTH * panels.length} ${HEIGHT}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif" font-size="11" fill="${INK}">\n${body}\n</svg>\n`;
}

function draw({ title, lines }: Panel): string {
  const xs = decades(lines.flatMap(({ points }) => points.map(([x]) => x)));
  const ys = decades(lines.flatMap(({ points }) => points.map(([, y]) => y)));
  const x = scale(xs, EDGE.left, WIDTH - EDGE.right);
  const y = scale(ys, HEIGHT - EDGE.bottom, EDGE.top);
  const grid = [
    ...xs.map((value) => rule(x(value), EDGE.top, x(value), HEIGHT - EDGE.bottom)),
    ...ys.map((value) => rule(EDGE.left, y(value), WIDTH - EDGE.right, y(value))),
    ...xs.map((value) => text(x(value), HEIGHT - EDGE.bottom + 16, short(value), 'middle')),
    ...ys.map((value) => text(EDGE.left - 6, y(value) + 4, short(value), 'end')),
    text((EDGE.left + WIDTH - EDGE.right) / 2, HEIGHT - 4, 'tools', 'middle'),
  ];
  const labels = spread(lines.map(({ points }) => y(points.at(-1)?.[1] ?? 1)));
  const drawn = lines.map(({ name, colour, points, dashed }, i) => {
    const path = points.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' ');
    const end = x(points.at(-1)?.[0] ?? 1) + 8;
    const stroke = `fill="none" stroke="${colour}" stroke-width="2"${dashed ? ' stroke-dasharray="5 4"' : ''}`;
    const dots = dashed ? [] : points.map(([px, py]) => dot(x(px), y(py), colour));
    return `<polyline points="${path}" ${stroke}/>${dots.join('')}${text(end, (labels[i] ?? 0) + 4, name, 'start', colour)}`;
  });
  return [text(EDGE.left, 18, title, 'start'), ...grid, ...drawn].join('\n');
}

/** Heights moved apart so that the labels on them do not cover each other. */
function spread(heights: readonly number[]): number[] {
  const moved = [...heights];
  let last = -Infinity;
  for (const i of heights.map((_, index) => index).toSorted((a, b) => heights[a]! - heights[b]!)) {
    last = Math.max(heights[i]!, last + LABEL);
    moved[i] = last;
  }
  return moved;
}

function dot(x: number, y: number, colour: string): string {
  return `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3" fill="${colour}"/>`;
}

/** Powers of ten around the values. */
function decades(values: readonly number[]): number[] {
  const low = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const high = Math.ceil(Math.log10(Math.max(...values)) - 1e-9);
  return Array.from({ length: Math.max(2, high - low + 1) }, (_, i) => 10 ** (low + i));
}

function scale(ticks: readonly number[], from: number, to: number): (value: number) => number {
  const [low, high] = [Math.log10(ticks[0] ?? 1), Math.log10(ticks.at(-1) ?? 10)];
  return (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from);
}

function rule(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${GRID}"/>`;
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end', colour = INK): string {
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}" fill="${colour}">${content}</text>`;
}

function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 1000 ? `${value / 1000}k` : String(Number(value.toPrecision(2)));
}
