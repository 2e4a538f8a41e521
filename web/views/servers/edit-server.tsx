import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ConfigChange, ConfigFile, JsonObject } from '../../api/types.js';
import { useConfigFile } from '../../app/config-file.js';
import { createDraft, type Draft } from '../../app/draft.js';
import { onForget } from '../../app/resource.js';
import { goTo, hrefTo } from '../../app/router.js';
import { isAdmin } from '../../app/session.js';
import { ConfigReview } from '../../parts/change-review.js';
import { FileProblem } from '../../parts/file-problem.js';
import { LookOnly } from '../../parts/look-only.js';
import { Page, Section } from '../../parts/page.js';
import { Callout, Loaded } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { additionWords, isRemoval, removalWords } from '../../parts/change-words.js';
import { Field, FormFields } from './entry-fields.js';
import { RegistrySearch } from './registry-search.js';
import { EMPTY_ENTRY, entryOf, formOf, problemsOf, readEntries, type EntryForm } from './server-entry.js';

interface NewEntry {
  readonly form: EntryForm;
  readonly mode: 'form' | 'raw';
  readonly raw: string;
}

const NOTHING: NewEntry = { form: EMPTY_ENTRY, mode: 'form', raw: '' };
/** What is written of a new server (under no id) and of others, and is not saved: it is kept while other views are open. */
const drafts = new Map<string | undefined, Draft<NewEntry>>();
onForget(() => drafts.clear());

function draftOf(id: string | undefined): Draft<NewEntry> {
  const kept = drafts.get(id) ?? createDraft<NewEntry>();
  drafts.set(id, kept);
  return kept;
}

function Editor({ file, id }: { readonly file: ConfigFile; readonly id: string | undefined }): VNode {
  const base = id === undefined ? undefined : (file.servers[id] as JsonObject | undefined);
  const draft = draftOf(id);
  const initial = id !== undefined && base ? { ...NOTHING, form: formOf(id, base) } : NOTHING;
  const [written, showWritten] = useState<NewEntry>(() => draft.value ?? initial);
  const { form, mode, raw } = written;
  const write = (part: Partial<NewEntry>): void => {
    const next = { ...written, ...part };
    draft.keep(next, initial);
    showWritten(next);
  };
  const [problems, setProblems] = useState<ReturnType<typeof problemsOf>>({});
  const [wrong, setWrong] = useState<string>();
  const [change, setChange] = useState<ConfigChange>();
  // An entry of that name would be replaced.
  const taken = id === undefined ? Object.keys(file.servers) : [];
  const show = (next: 'form' | 'raw'): void => {
    // An empty form has nothing to show; what is pasted brings its name along.
    const isEmpty = id === undefined && problemsOf(form).id !== undefined;
    const entry = entryOf(form, base);
    const text = isEmpty ? '' : JSON.stringify(id === undefined ? { [form.id.trim()]: entry } : entry, null, 2);
    setWrong(undefined);
    write({ mode: next, ...(next === 'raw' && { raw: text }) });
  };
  const review = (event: Event): void => {
    event.preventDefault();
    const name = form.id.trim();
    if (mode === 'raw') {
      const read = readEntries(raw, name, taken);
      setWrong(typeof read === 'string' ? read : undefined);
      if (typeof read !== 'string') setChange({ servers: read });
      return;
    }
    const found = problemsOf(form, taken);
    setProblems(found);
    if (Object.keys(found).length === 0) setChange({ servers: { [name]: entryOf(form, base) } });
  };
  if (id !== undefined && !base) {
    return (
      <Callout tone="warn">
        This server does not stand in the config file itself: a source or the registry brings it. Change it there.
      </Callout>
    );
  }
  return (
    <>
      {id !== undefined && draft.isOutdated(initial) && (
        <Callout tone="warn">
          The entry changed while you wrote. Your text is kept; the review shows what it would change.
        </Callout>
      )}
      {id === undefined && <RegistrySearch onPick={(name, entry) => write({ form: formOf(name, entry) })} />}
      <Section
        title={id === undefined ? 'Or describe it' : 'Entry'}
        aside={
          <Tabs
            label="How to write it"
            tabs={[
              ['form', 'Form'],
              ['raw', 'JSON'],
            ]}
            current={mode}
            onChange={show}
          />
        }
      >
        <form class="stack" noValidate onSubmit={review}>
          {mode === 'form' ? (
            <FormFields
              form={form}
              problems={problems}
              isNew={id === undefined}
              onChange={(part) => {
                const next = { ...form, ...part };
                write({ form: next });
                if (Object.keys(problems).length > 0) setProblems(problemsOf(next, taken));
              }}
            />
          ) : (
            <Field
              label="Entry of the config as JSON"
              hint={
                id === undefined && (
                  <>
                    Paste what the server's page shows, with its name: <code>{'{"mcpServers": {"github": {…}}}'}</code>
                  </>
                )
              }
              {...(wrong && { problem: wrong })}
            >
              <textarea
                class="input mono"
                rows={12}
                spellcheck={false}
                value={raw}
                onInput={(event) => write({ raw: event.currentTarget.value })}
              />
            </Field>
          )}
          {JSON.stringify(mode === 'form' ? form : raw).includes('TOOLSCOUT_SECRET_') && (
            <p class="field-hint">
              TOOLSCOUT_SECRET_… stands for a value that is not shown: values of variables and headers, and what looks
              like a credential. It stays what it is as long as you leave the word alone.
            </p>
          )}
          <div class="line">
            <button type="submit" class="button button-main" disabled={!isAdmin()}>
              Review the change
            </button>
            {draft.value !== undefined && (
              <button
                type="button"
                class="button"
                onClick={() => {
                  draft.drop();
                  setProblems({});
                  setWrong(undefined);
                  showWritten(initial);
                }}
              >
                Undo
              </button>
            )}
            {id !== undefined && (
              <button
                type="button"
                class="button button-danger"
                disabled={!isAdmin()}
                onClick={() => setChange({ servers: { [id]: null } })}
              >
                Remove the server
              </button>
            )}
            <span class="muted small">Nothing is written or started before you confirm.</span>
          </div>
          <LookOnly class="muted small" />
        </form>
      </Section>
      <ConfigReview
        {...(id === undefined && change !== undefined && additionWords(change))}
        {...(id !== undefined && isRemoval(change) && removalWords(id))}
        change={change}
        onClose={() => setChange(undefined)}
        onDone={() => {
          drafts.delete(id);
          const [name, entry] = Object.entries(change && 'servers' in change ? change.servers : {})[0] ?? [];
          goTo(entry === null || name === undefined ? hrefTo('servers') : hrefTo('servers', [name]), {
            from: 'servers',
          });
        }}
      />
    </>
  );
}

/** Adds a server to the config, or changes one. */
export function EditServer({ id }: { readonly id?: string }): VNode {
  const file = useConfigFile();
  return (
    <Page
      title={id === undefined ? 'Add a server' : `Edit ${id}`}
      lead={
        <span>
          <a href="#/servers">Servers</a> / {id === undefined ? 'add' : <a href={hrefTo('servers', [id])}>{id}</a>}
        </span>
      }
    >
      <Loaded from={file} what="The config file">
        {(found) => (
          <>
            <FileProblem file={found} />
            {!found.isGone && <Editor file={found} id={id} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}
