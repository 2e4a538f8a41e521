import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createAudit, moveExportCursors } from '../audit/index.js';
import { systemClock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { silentLog } from '../kernel/log.js';
import { createSecretMask } from '../kernel/secrets.js';
import type { Store } from '../model/store.js';
import { copyStore, type CopyReport } from '../store/index.js';
import { stateDirectoryOf } from './state-place.js';
import { openStore } from './open-store.js';

/** Which stores `store migrate` works on: `sqlite`, `sqlite:DIRECTORY` or the address of a database. */
export interface MigrateWish {
  readonly from: string;
  readonly to: string;
  /** What `sqlite` alone means. */
  readonly stateDir?: string;
  /** Copy an audit log also when it was changed after it was written. */
  readonly acceptAudit?: boolean;
}

/** What was copied, and between which stores. */
export type MigrateReport = CopyReport & { readonly from: string; readonly to: string };

/**
 * Copies one store to another, empty one and verifies the copy (STORE-5).
 *
 * @throws ToolscoutError `STORE_ERROR`
 */
export async function migrateStore(
  { from, to, stateDir, acceptAudit }: MigrateWish,
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string | undefined>> },
): Promise<MigrateReport> {
  let time: number | undefined;
  const clock = { ...systemClock, now: () => time ?? systemClock.now() };
  const open = async (place: string): Promise<Store> => {
    const [, directory] = /^sqlite(?::(.+))?$/.exec(place) ?? [];
    const kind = /^sqlite(:|$)/.test(place) ? 'sqlite' : place;
    if (kind !== 'sqlite' && !/^postgres(ql)?:\/\//i.test(place)) {
      throw new ToolscoutError(
        'INVALID_REQUEST',
        `"${/^[\w+.-]*/.exec(place)![0]}" is not a kind of store; expected sqlite or postgres.`,
        {
          suggestion: 'Name sqlite, sqlite:DIRECTORY or postgres://user@host:port/database.',
        },
      );
    }
    const where = directory === undefined ? stateDirectoryOf({ cwd, env, stateDir }) : resolve(cwd, directory);
    if (kind === 'sqlite' && place === from && !existsSync(join(where, 'toolscout.db'))) {
      throw new ToolscoutError('STORE_ERROR', `There is no store in ${where}.`, {
        suggestion: 'Name the directory that toolscout store status prints: sqlite:DIRECTORY.',
      });
    }
    return openStore(kind, {
      directory: where,
      env,
      mask: createSecretMask(),
      clock,
      log: silentLog,
    });
  };
  const source = await open(from);
  try {
    const target = await open(to);
    try {
      const setTime = (now: number): void => {
        time = now;
      };
      const finish = (): Promise<void> => moveExportCursors(source, target);
      const report = await copyStore(source, { store: target, setTime }, { acceptAudit, finish });
      time = undefined;
      const audit = createAudit({ store: target, clock, log: silentLog, redact: (value) => value });
      const { entries, records, auditProblem } = report;
      const detail = { from: source.location, entries, records, ...(auditProblem !== undefined && { auditProblem }) };
      await audit.recordNow({ kind: 'store-migrate', principal: 'local', outcome: 'success', detail });
      await audit.close();
      return { from: source.location, to: target.location, ...report };
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}
