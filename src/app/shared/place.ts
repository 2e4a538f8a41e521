import { chmodSync, closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { renameSync, statSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolscoutError } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';

/** Where one shared service is found, and what belongs to it. */
export interface SharedPlace {
  /** Names the service among those of the user. */
  readonly key: string;
  /** The folder that holds all of it; only the user may enter it. */
  readonly folder: string;
  /** The Unix socket, or the named pipe on Windows. */
  readonly socket: string;
  /** What is known of the service: {@link ServiceRecord}. */
  readonly record: string;
  /** The holder of this lock may start the service. */
  readonly lock: string;
  /** What the service writes to stderr. */
  readonly log: string;
}

/** The record of a service for other processes of its user. */
export interface ServiceRecord {
  readonly pid: number;
  readonly version: string;
  /** Proves on both sides that the other one may read the files of this user. */
  readonly token: string;
  /** The config it serves, or what stands in for one. */
  readonly config: string;
  /** Milliseconds since 1970. */
  readonly startedAt: number;
}

/** A path of a Unix socket has at most 104 bytes on macOS and 108 on Linux, with the zero at its end. */
const MAX_SOCKET_BYTES = 103;

const PRIVATE_FILE = 0o600;
const PRIVATE_FOLDER = 0o700;
const OTHERS = 0o077;

/** Names a service: processes with the same parts use the same service. */
export function sharedKey(parts: readonly (string | number | boolean | undefined)[]): string {
  return sha256(JSON.stringify(parts.map((part) => part ?? null))).slice(0, 16);
}

/** The place of a service in a state directory. */
export function sharedPlace(
  stateDirectory: string,
  key: string,
  around: { readonly platform: string; readonly uid: number } = { platform: process.platform, uid: ownUid() },
): SharedPlace {
  const folder = join(stateDirectory, 'shared');
  const file = (end: string): string => join(folder, `${key}.${end}`);
  const near = file('sock');
  const isLong = Buffer.byteLength(near) > MAX_SOCKET_BYTES;
  const far = join(tmpdir(), `toolscout-${around.uid}`, `${sha256(folder).slice(0, 8)}-${key}.sock`);
  const socket =
    around.platform === 'win32' ? `\\\\.\\pipe\\toolscout-${sha256(near).slice(0, 32)}` : isLong ? far : near;
  return { key, folder, socket, record: file('json'), lock: file('lock'), log: file('log') };
}

function ownUid(): number {
  return process.getuid?.() ?? 0;
}

function refuse(message: string): ToolscoutError {
  return new ToolscoutError('STORE_ERROR', message, {
    suggestion: 'Remove it, or name another state directory with --state-dir.',
  });
}

/** Makes a folder that only this user may enter, and refuses one that is not so. */
function preparePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
  const found = lstatSync(folder);
  if (!found.isDirectory()) throw refuse(`${folder} must be a real directory; it is a file or a symbolic link.`);
  if (process.platform === 'win32') return;
  if (found.uid !== ownUid()) throw refuse(`${folder} belongs to another user.`);
  if (found.mode & OTHERS) chmodSync(folder, PRIVATE_FOLDER);
}

/**
 * Makes the folders of a place.
 *
 * @throws ToolscoutError `STORE_ERROR` when one of them is a symbolic link or belongs to another user.
 */
export function preparePlace({ folder, socket }: SharedPlace): void {
  preparePrivateFolder(folder);
  if (process.platform !== 'win32' && !socket.startsWith(folder)) preparePrivateFolder(join(socket, '..'));
}

/** Opens a file of a place for writing; a symbolic link is refused. */
export function openPrivate(file: string, flags: number): number {
  return openSync(file, flags | constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0), PRIVATE_FILE);
}

/** Writes what is known of a service, in one step for its readers. */
export function writeRecord(place: SharedPlace, record: ServiceRecord): void {
  const draft = `${place.record}.${process.pid}`;
  const file = openPrivate(draft, constants.O_CREAT | constants.O_TRUNC);
  try {
    writeSync(file, JSON.stringify(record));
  } finally {
    closeSync(file);
  }
  renameSync(draft, place.record);
}

/** The record of the service of a place; `undefined` when there is none, or when another user could have written it. */
export function readRecord(path: string): ServiceRecord | undefined {
  // Before a service has written it, it is looked for many times.
  if (!lstatSync(path, { throwIfNoEntry: false })) return undefined;
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const { uid, mode } = fstatSync(file);
    if (process.platform !== 'win32' && (uid !== ownUid() || (mode & OTHERS) !== 0)) return undefined;
    const record = JSON.parse(readFileSync(file, 'utf8')) as Partial<ServiceRecord>;
    return typeof record.token === 'string' && typeof record.pid === 'number' ? (record as ServiceRecord) : undefined;
  } catch {
    // It is missing, a link, or being replaced: the caller looks again.
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** When a file was last changed; 0 when it does not exist. */
export function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
