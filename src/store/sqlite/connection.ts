import type Database from 'libsql';

/** What a column may hold. Text is read as bytes: the engine aborts the process on text that is not UTF-8. */
export type Column = string | number | Buffer | null;

/** One open database file, with plain rows and cached statements. Everything in it is synchronous. */
export interface Connection {
  /** The rows of a query, each an array of its columns. */
  rows(sql: string, ...values: readonly Column[]): Column[][];
  /** Runs a statement without rows; answers how many rows it changed. */
  run(sql: string, ...values: readonly Column[]): number;
  /** Runs several statements that are constants of ours. */
  exec(sql: string): void;
  /** Runs a task as one write transaction: all of it, or nothing. */
  transaction<Result>(task: () => Result): Result;
  close(): void;
}

/** The constructor of libsql. */
export type Engine = typeof Database;

/** Opens a file. `busyMs` is how long SQLite itself blocks the process for a lock. */
export function connect(engine: Engine, path: string, busyMs: number): Connection {
  const database = new engine(path, { timeout: busyMs });
  const statements = new Map<string, Database.Statement>();

  const prepare = (sql: string): Database.Statement => {
    let statement = statements.get(sql);
    if (!statement) {
      statement = database.prepare(sql);
      // Raw rows are arrays: libsql adds a `_metadata` field to rows that are objects.
      if (statement.reader) statement.raw(true);
      statements.set(sql, statement);
    }
    return statement;
  };
  // One array as the only argument: libsql takes a lone `null` for a missing list of values.
  const run: Connection['run'] = (sql, ...values) => prepare(sql).run(values).changes;

  return {
    rows: (sql, ...values) => prepare(sql).all(values) as Column[][],
    run,
    exec: (sql) => void database.exec(sql),
    transaction(task) {
      run('begin immediate');
      try {
        const result = task();
        run('commit');
        return result;
      } catch (thrown) {
        // SQLite has rolled back by itself after some failures, a full disk among them.
        if (database.inTransaction) run('rollback');
        throw thrown;
      }
    },
    close() {
      // Statements of libsql cannot be finalised and keep the file open; let go of them.
      statements.clear();
      database.close();
    },
  };
}
