/** A text that stood encoded in another. */
export interface Payload {
  readonly encoding: string;
  readonly text: string;
  /** Where it stood in the text. */
  readonly at: number;
  /** It stood encoded in something that was encoded itself. */
  readonly isNested: boolean;
}

/** Payloads of one text, and characters in all of them; the rest is left unread. */
const MAX_PAYLOADS = 64;
const MAX_DECODED = 64 * 1024;

// oxlint-disable-next-line no-control-regex
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufffd]/;

/** Whether decoded bytes are something that a person wrote: several words, or a word of another script. */
function isWritten(text: string): boolean {
  if (text.length < 6 || UNPRINTABLE.test(text)) return false;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  if (letters < text.length * 0.55) return false;
  // Two letters are enough: a longer run would be tried from each of its letters.
  // oxlint-disable-next-line no-control-regex
  return /\p{L}{2}[\s,._-]+\p{L}{2}/u.test(text) || /[^\u0000-\u024f]{4,}/.test(text);
}

const fromBytes = (bytes: Buffer): string => bytes.toString('utf8');
const fromNumbers = (text: string, radix: number): string =>
  fromBytes(Buffer.from(text.match(/[0-9a-f]+/gi)?.map((digits) => Number.parseInt(digits, radix) & 255) ?? []));

const rotate = (text: string): string =>
  text.replace(/[a-z]/gi, (letter) => {
    const base = letter <= 'Z' ? 65 : 97;
    return String.fromCharCode(((letter.charCodeAt(0) - base + 13) % 26) + base);
  });
/** Short English words as they look rotated or read backwards; two of them are no accident. */
const ROTATED = /\b(?:gur|naq|lbh|lbhe|nyy|guvf|jvgu|sebz|frag)\b/gi;
const BACKWARDS = /\b(?:eht|dna|uoy|ruoy|siht|htiw|ton|morf|lla|snoitcurtsni|resu|dnes)\b/gi;

const MORSE: ReadonlyMap<string, string> = new Map(
  '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'
    .split(' ')
    .map((code, at) => [code, String.fromCharCode(97 + at)] as const),
);
const fromMorse = (text: string): string =>
  text
    .split(/\s*\/\s*/)
    .map((word) =>
      word
        .trim()
        .split(/\s+/)
        .map((code) => MORSE.get(code) ?? '')
        .join(''),
    )
    .join(' ');

/** Tags and variation selectors carry one byte each. */
function fromTags(text: string): string {
  let hidden = '';
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0)!;
    if (code >= 0xe0020 && code <= 0xe007e) hidden += String.fromCharCode(code - 0xe0000);
    else if (code >= 0xfe00 && code <= 0xfe0f) bytes.push(code - 0xfe00);
    else if (code >= 0xe0100 && code <= 0xe01ef) bytes.push(code - 0xe0100 + 16);
  }
  return `${hidden} ${fromBytes(Buffer.from(bytes))}`.trim();
}

const RUNS: ReadonlyArray<{
  readonly encoding: string;
  readonly pattern: RegExp;
  readonly decode: (run: string) => string;
}> = [
  {
    encoding: 'hexadecimal',
    pattern: /\b(?:0x)?(?:[0-9a-f]{2}){8,}\b/gi,
    decode: (run) => fromBytes(Buffer.from(run.replace(/^0x/i, ''), 'hex')),
  },
  {
    encoding: 'hexadecimal',
    pattern: /\b(?:[0-9a-f]{2}[ :,]){7,}[0-9a-f]{2}\b/gi,
    decode: (run) => fromNumbers(run, 16),
  },
  { encoding: 'numbers', pattern: /\b(?:\d{2,3}[, ]{1,2}){7,}\d{2,3}\b/g, decode: (run) => fromNumbers(run, 10) },
  {
    encoding: 'binary',
    pattern: /\b(?:[01]{8} ?){4,}/g,
    decode: (run) => fromNumbers(run.replace(/([01]{8}) ?/g, '$1 '), 2),
  },
  {
    encoding: 'base64',
    pattern: /[A-Za-z0-9+/_-]{12,}={0,2}/g,
    decode: (run) => fromBytes(Buffer.from(run, 'base64')),
  },
  {
    encoding: 'base64 in pieces',
    pattern: /(?:[A-Za-z0-9+/]{8,76}\s){2,64}[A-Za-z0-9+/]{2,76}={0,2}(?![\w+/])/g,
    decode: (run) => fromBytes(Buffer.from(run.replace(/\s/g, ''), 'base64')),
  },
  { encoding: 'morse code', pattern: /(?:[.-]{1,4} (?:\/ )?){8,}[.-]{1,4}/g, decode: fromMorse },
];

/** The payloads of a text, those inside other payloads included; the work is bounded whatever the text. */
export function payloadsOf(text: string): Payload[] {
  const found: Payload[] = [];
  let room = MAX_DECODED;
  const add = (encoding: string, decoded: string, depth: number, at: number): void => {
    if (found.length >= MAX_PAYLOADS || room <= 0) return;
    const kept = decoded.slice(0, room);
    const written = isWritten(kept);
    if (written) {
      room -= kept.length;
      found.push({ encoding, text: kept, at, isNested: depth === 1 });
    }
    if (depth < 2 && (written || !UNPRINTABLE.test(kept))) search(kept, depth + 1, at);
  };
  const search = (source: string, depth: number, place?: number): void => {
    for (const { encoding, pattern, decode } of RUNS) {
      if (source.search(pattern) === -1) continue;
      for (const { 0: run, index } of source.matchAll(pattern)) {
        if (found.length >= MAX_PAYLOADS || room <= 0) return;
        add(encoding, decode(run.length > room * 2 ? run.slice(0, room * 2) : run), depth, place ?? index);
      }
    }
  };
  search(text, 0);
  if ((text.match(ROTATED)?.length ?? 0) >= 2) add('rot13', rotate(text), 2, 0);
  if ((text.match(BACKWARDS)?.length ?? 0) >= 2) add('reversed', [...text].toReversed().join(''), 2, 0);
  if (/[\ufe00-\ufe0f]{2}|[\u{e0000}-\u{e0fff}]/u.test(text)) add('hidden characters', fromTags(text), 2, 0);
  return found;
}
