/** Bars under one title. */
export interface BarPanel {
  readonly title: string;
  readonly bars: readonly { readonly name: string; readonly value: number; readonly label: string }[];
}

const WIDTH = 420;
const ROW = 20;
const NAMES = 130;
const ROOM = 200;
/** Greys and a blue that can be read on white and on black. */
const INK = '#7d8590';
const OWN = '#2f81f7';

/** Panels in two columns as an SVG without a background, so that it fits a light page and a dark one. */
export function bars(panels: readonly BarPanel[]): string {
  const height = (panels[0]?.bars.length ?? 0) * ROW + 50;
  const body = panels
    .map((panel, n) => `<g transform="translate(${(n % 2) * WIDTH} ${Math.floor(n / 2) * height})">${draw(panel)}</g>`)
    .join('\n');
  const size = [WIDTH * 2, height * Math.ceil(panels.length / 2)] as const;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}" viewBox="0 0 ${size[0]} ${size[1]}" font-family="system-ui, sans-serif" font-size="11" fill="${INK}">\n${body}\n</svg>\n`;
}

function draw({ title, bars: given }: BarPanel): string {
  const most = Math.max(...given.map(({ value }) => value));
  const lines = given.map(({ name, value, label }, n) => {
    const y = 40 + n * ROW;
    const width = Math.max(1, (value / most) * ROOM);
    const colour = name.startsWith('toolscout') ? OWN : INK;
    return [
      `<text x="${NAMES - 6}" y="${y + 9}" text-anchor="end">${name}</text>`,
      `<rect x="${NAMES}" y="${y}" width="${width.toFixed(1)}" height="12" fill="${colour}"/>`,
      `<text x="${(NAMES + width + 6).toFixed(1)}" y="${y + 9}">${label}</text>`,
    ].join('');
  });
  return `<text x="8" y="20" font-weight="600">${title}</text>${lines.join('')}`;
}
