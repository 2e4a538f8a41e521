import { findFindings } from '../approvals/index.js';
import { oneLine, printable } from '../kernel/text.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import type { ServerFacts } from './catalog.js';

/** Characters of a description. */
const MAX_LENGTH = 120;

/** Characters of a text that is considered; what follows is neither screened nor shown. */
const MAX_READ = 4000;

/** Subjects named of a server that says nothing of itself. */
const MAX_SUBJECTS = 6;

/** The first sentence of a text, without the marks of Markdown before it. */
function firstSentence(text: string): string {
  const line = text
    .split('\n')
    .map((each) => each.replace(/^[\s#>*`-]+/, '').trim())
    .find((each) => each !== '');
  return /^.*?[.!?](?=\s|$)/.exec(line ?? '')?.[0] ?? line ?? '';
}

/** What the tools of a server are about, the most frequent first: `issues, pull requests, repos`. */
function subjectsOf(tools: readonly Tool[]): string {
  const counts = new Map<string, number>();
  for (const { domains, status } of tools) {
    for (const domain of status === 'enabled' ? domains.slice(1) : []) {
      const subject = domain.slice(domain.lastIndexOf('.') + 1).replaceAll('_', ' ');
      counts.set(subject, (counts.get(subject) ?? 0) + 1);
    }
  }
  const ranked = [...counts].toSorted(([a, some], [b, other]) => other - some || (a < b ? -1 : 1));
  return ranked
    .slice(0, MAX_SUBJECTS)
    .map(([subject]) => subject)
    .join(', ');
}

/** What a server is for as a person or the server wrote it. A text with signs of an attack is skipped. */
export function writtenDescription(
  server: Server,
  { info, instructions }: Pick<ServerFacts, 'info' | 'instructions'> = {},
): string | undefined {
  const description = info?.['description'];
  const written = [server.description, typeof description === 'string' ? description : undefined];
  for (const text of [...written, instructions]) {
    const read = text?.slice(0, MAX_READ);
    if (!read || findFindings({ text: read }).length > 0) continue;
    const shown = oneLine(printable(text === instructions ? firstSentence(read) : read), MAX_LENGTH);
    if (shown !== '') return shown;
  }
  return undefined;
}

/** The purpose of a server on one line: from the config, else from the server's own trusted description, else from its tools. */
export function describeServer(
  server: Server,
  facts: Pick<ServerFacts, 'info' | 'instructions'> = {},
  tools: readonly Tool[] = [],
): string | undefined {
  return writtenDescription(server, facts) ?? (oneLine(printable(subjectsOf(tools)), MAX_LENGTH) || undefined);
}
