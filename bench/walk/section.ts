/** The files that something enters, in order, relative to `src/`. */
export interface Walk {
  readonly name: string;
  readonly files: readonly string[];
}

const HEADING = '## What one call walks through';
const FENCE = '```';
const WIDTH = 130;

/** `gateway`, `front/http`: what a line of the list begins with. */
function folderOf(file: string): string {
  const [room = '', ...rest] = file.split('/');
  return room === 'front' ? `${room}/${rest[0]}` : room;
}

/** One line for files of one folder that are entered one after the other; a long one goes on below. */
function linesOf(folder: string, names: readonly string[]): string[] {
  const lines: string[] = [];
  let line = `  ${folder.padEnd(11)}`;
  for (const name of names) {
    if (line.length + name.length + 1 > WIDTH) {
      lines.push(line);
      line = ' '.repeat(13);
    }
    line += ` ${name}`;
  }
  return [...lines, line];
}

function renderWalk({ name, files }: Walk): string {
  const groups: Array<{ folder: string; names: string[] }> = [];
  for (const file of files) {
    const folder = folderOf(file);
    const short = file.slice(folder.length + 1).replace(/\.ts$/, '');
    if (groups.at(-1)?.folder === folder) groups.at(-1)!.names.push(short);
    else groups.push({ folder, names: [short] });
  }
  return [`${name}: ${files.length} files`, ...groups.flatMap(({ folder, names }) => linesOf(folder, names))].join(
    '\n',
  );
}

/** The lists as ARCHITECTURE.md has them. */
export function renderWalks(walks: readonly Walk[]): string {
  return walks.map(renderWalk).join('\n\n');
}

/** The page with these lists in place of those it has. */
export function withWalks(page: string, walks: readonly Walk[]): string {
  const from = page.indexOf(FENCE, page.indexOf(HEADING));
  const to = page.indexOf(FENCE, from + FENCE.length);
  if (!page.includes(HEADING) || to === -1) throw new Error(`ARCHITECTURE.md has no section "${HEADING}" with a list.`);
  return `${page.slice(0, from)}${FENCE}\n${renderWalks(walks)}\n${page.slice(to)}`;
}
