/** The statements that work on entries. A write answers the new version of its space first; no row means that nothing was written. */
export type EntryStatements = Readonly<
  Record<
    'get' | 'list' | 'spaces' | 'revisions' | 'versions' | 'put' | 'create' | 'replace' | 'delete' | 'clear',
    string
  >
>;

/**
 * The statements for one schema. Every write first counts up the version of its space, and holds that row until it is committed: so
 * revisions come in the order of commits, and no two writers wait for each other crosswise. A condition is checked by the
 * statement that writes, on the newest state of the row.
 *
 * Writes take: space, its whole name, key, its whole name, text, stored at, expires at, and for `replace` the revision.
 */
export function entryStatements(options: {
  readonly schema: string;
  readonly channel: string;
  readonly writer: string;
}): EntryStatements {
  const { schema, channel, writer } = options;
  const entries = `${schema}.entries`;
  const columns = 'key, name, value, stored_at, expires_at, revision';
  const bump = (name: string, condition = ''): string => `with bump as (
    insert into ${schema}.changes as counted (space, name, version) select $1::text, ${name}, 1 ${condition}
    on conflict (space) do update set version = counted.version + 1 returning version)`;
  const insert = `insert into ${entries} (space, ${columns})
    select $1::text, $3::text, $4::text, $5::text, $6::bigint, $7::bigint, version from bump`;
  const answer = `select bump.version, pg_notify('${channel}', '${writer} ' || bump.version || ' ' || $1::text) from bump, done`;
  return {
    get: `select ${columns} from ${entries} where space = $1 and key = $2`,
    list: `select ${columns} from ${entries} where space = $1`,
    spaces: `select space, name from ${schema}.changes as changes
      where exists (select 1 from ${entries} as stored where stored.space = changes.space)`,
    revisions: `select key, name, revision from ${entries} where space = $1`,
    versions: `select changes.space, changes.name, changes.version, about.oldest_reader, about.version, about.id,
        floor(extract(epoch from clock_timestamp()) * 1000)
      from ${schema}.about as about left join ${schema}.changes as changes on true`,
    put: `${bump('$2::text')}, done as (${insert} on conflict (space, key) do update set value = excluded.value,
      stored_at = excluded.stored_at, expires_at = excluded.expires_at, revision = excluded.revision returning 1) ${answer}`,
    create: `${bump('$2::text', `where not exists (select 1 from ${entries} where space = $1 and key = $3)`)},
      done as (${insert} on conflict (space, key) do nothing returning 1) ${answer}`,
    replace: `${bump('$2::text', `where exists (select 1 from ${entries} where space = $1 and key = $3 and revision = $8)`)},
      done as (update ${entries} as stored set name = $4, value = $5, stored_at = $6, expires_at = $7, revision = bump.version
        from bump where stored.space = $1 and stored.key = $3 and stored.revision = $8 returning 1) ${answer}`,
    delete: `${bump('null', `where exists (select 1 from ${entries} where space = $1 and key = $2)`)},
      done as (delete from ${entries} using bump where space = $1 and key = $2 returning 1) ${answer}`,
    clear: `${bump('null', `where exists (select 1 from ${entries} where space = $1)`)},
      done as (delete from ${entries} using bump where space = $1 returning 1) ${answer}`,
  };
}
