/** Template variables while the text around them is folded: private-use characters that no address has. */
const SEGMENT_VARIABLE = '\u{F8FE}';
const VARIABLE = '\u{F8FF}';

/** How often percent-encoding is taken off; more layers than any server decodes. */
const MAX_DECODINGS = 4;

/** Decodes what is percent-encoded; what is no valid encoding stays as it is. */
function decode(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/giu, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });
}

function decodeAll(text: string): string {
  let decoded = text;
  for (let round = 0; round < MAX_DECODINGS; round += 1) {
    const next = decode(decoded);
    if (next === decoded) break;
    decoded = next;
  }
  return decoded;
}

/** A path without empty, `.` and `..` segments. */
function withoutDots(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return kept.join('/');
}

/** One form for all spellings of a name: case, compatibility forms of characters and space around it do not count. */
export function foldName(name: string): string {
  return name.normalize('NFKC').trim().toLowerCase();
}

/**
 * One form for all spellings of an address that a server could take for the same: percent-encoding, case, default ports,
 * backslashes, empty and dot segments, a fragment. Two different addresses may share a form, so an exact match decides first.
 */
export function foldUri(uri: string): string {
  const text = foldName(decodeAll(uri).replaceAll(/[\t\n\r]/gu, '')).replaceAll('\\', '/');
  const [beforeFragment = ''] = text.split('#', 1);
  const scheme = /^[a-z][a-z0-9+.-]*:/u.exec(beforeFragment)?.[0] ?? '';
  const [path = '', ...query] = beforeFragment.slice(scheme.length).split('?');
  const port = scheme === 'https:' ? ':443' : scheme === 'http:' ? ':80' : undefined;
  const bare = withoutDots(path);
  const slash = bare.indexOf('/');
  const host = slash === -1 ? bare : bare.slice(0, slash);
  const folded =
    port !== undefined && host.endsWith(port) ? host.slice(0, -port.length) + bare.slice(host.length) : bare;
  const asked = query.join('?');
  return scheme + folded + (asked && `?${asked}`);
}

/** A URI template (RFC 6570) in the form of `foldUri`: the texts around its variables, and which of those end at a slash. */
export interface FoldedTemplate {
  readonly texts: readonly string[];
  /** For each variable whether its value is within one segment of a path, as that of `{id}` is. */
  readonly withinSegment: readonly boolean[];
}

/** The one form of all spellings of a template. */
export function foldTemplate(template: string): FoldedTemplate {
  const marked = template.replaceAll(/\{([^{}]*)\}/gu, (_, variable: string) =>
    /^\w+$/u.test(variable) ? SEGMENT_VARIABLE : VARIABLE,
  );
  const parts = foldUri(marked).split(/([\u{F8FE}\u{F8FF}])/u);
  return {
    texts: parts.filter((_, index) => index % 2 === 0),
    withinSegment: parts.filter((_, index) => index % 2 === 1).map((variable) => variable === SEGMENT_VARIABLE),
  };
}

/**
 * Whether a folded address may come from a template. `strict` holds variables to their segments, as most servers do; without it
 * any text may stand for any variable.
 */
export function fitsTemplate({ texts, withinSegment }: FoldedTemplate, folded: string, strict: boolean): boolean {
  const [first = '', ...rest] = texts;
  const last = rest.pop();
  if (last === undefined || !folded.startsWith(first)) return folded === first;
  let from = first.length;
  const mayEnd = (variable: number, at: number): boolean =>
    !(strict && withinSegment[variable] === true && folded.slice(from, at).includes('/'));
  for (const [variable, text] of rest.entries()) {
    const at = folded.indexOf(text, from);
    if (at === -1 || !mayEnd(variable, at)) return false;
    from = at + text.length;
  }
  const end = folded.length - last.length;
  return end >= from && folded.endsWith(last) && mayEnd(rest.length, end);
}
