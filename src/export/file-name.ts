import { sha256 } from '../kernel/hash.js';

/** Characters of an encoded name; with an ending and a hash it stays below the 255 bytes of a file name. */
const MAX_LENGTH = 180;
const PREFIX = 100;

/** Names that Windows gives to devices, whatever ending follows. */
const DEVICE = /^(?:con|prn|aux|nul|conin|conout|com\d|lpt\d)(?:\.|$)/;

/** The file that describes the server itself, beside its tools. */
export const SERVER_FILE = 'server.rtfs';

function encodeUnit(code: number): string {
  return code < 0x100 ? `=${code.toString(16).padStart(2, '0')}` : `=u${code.toString(16).padStart(4, '0')}`;
}

/** Whether a character may stand for itself; where a name begins or ends fewer may. */
function isPlain(char: string, isEdge: boolean): boolean {
  return /[a-z0-9_]/.test(char) || (!isEdge && /[.-]/.test(char));
}

function encode(name: string): string {
  let encoded = '';
  for (let at = 0; at < name.length; at++) {
    const char = name[at]!;
    if (isPlain(char, at === 0 || at === name.length - 1)) encoded += char;
    else if (/[A-Z]/.test(char)) encoded += `+${char}`;
    else encoded += encodeUnit(name.charCodeAt(at));
  }
  const isTaken = DEVICE.test(encoded) || encoded === 'server';
  return isTaken ? encodeUnit(name.charCodeAt(0)) + encoded.slice(1) : encoded;
}

/**
 * A name as the name of a file or folder (SCH-3, A20). Different names give different file names, also on file systems
 * that ignore case or Unicode forms: all is ASCII, a capital letter is marked with `+`, any other character but `a-z
 * 0-9 _ . -` is written as `=2f` or `=u00e9`, and a name too long ends in `==` and its SHA-256. No file name is a path,
 * hidden, a device, or taken by us.
 */
export function fileNameOf(name: string): string {
  if (name === '') return '=';
  const encoded = name.length > MAX_LENGTH ? undefined : encode(name);
  if (encoded !== undefined && encoded.length <= MAX_LENGTH) return encoded;
  // As JSON, because half of a surrogate pair has no bytes of its own to be hashed.
  return `${encode(name.slice(0, PREFIX)).slice(0, PREFIX)}==${sha256(JSON.stringify(name))}`;
}

/** The name of the RTFS file of a tool, in the folder of its server. */
export function toolFileOf(tool: string): string {
  return `${fileNameOf(tool)}.rtfs`;
}
