import type { ComponentChildren, VNode } from 'preact';
import { asOwn } from '../../app/session.js';
import { Command } from '../../parts/server-text.js';
import { Tabs } from '../../parts/tabs.js';
import type { EntryForm, problemsOf } from './server-entry.js';

/** A field of a form with its hint, and what is wrong with it. */
export function Field({
  label,
  hint,
  problem,
  children,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly problem?: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class="field">
      <label class="field">
        <span class="field-label">{label}</span>
        {children}
      </label>
      {hint && <span class="field-hint">{hint}</span>}
      {problem && (
        <span class="field-problem" role="alert">
          {problem}
        </span>
      )}
    </div>
  );
}

/** The fields of an entry: its name, how it is reached, what it gets. */
export function FormFields({
  form,
  problems,
  isNew,
  onChange,
}: {
  readonly form: EntryForm;
  readonly problems: ReturnType<typeof problemsOf>;
  readonly isNew: boolean;
  readonly onChange: (change: Partial<EntryForm>) => void;
}): VNode {
  const input = (name: keyof EntryForm, placeholder: string, mono = true): VNode => (
    <input
      class={mono ? 'input mono' : 'input'}
      type="text"
      autocomplete="off"
      spellcheck={false}
      placeholder={placeholder}
      value={form[name]}
      aria-invalid={problems[name] !== undefined}
      onInput={(event) => onChange({ [name]: event.currentTarget.value })}
    />
  );
  const area = (name: keyof EntryForm, placeholder: string): VNode => (
    <textarea
      class="input mono"
      rows={2}
      spellcheck={false}
      placeholder={placeholder}
      value={form[name]}
      aria-invalid={problems[name] !== undefined}
      onInput={(event) => onChange({ [name]: event.currentTarget.value })}
    />
  );
  return (
    <div class="stack">
      {isNew && (
        <Field
          label="Name"
          hint="How tools of this server are addressed: name:tool."
          {...(problems.id && { problem: problems.id })}
        >
          {input('id', 'github')}
        </Field>
      )}
      <Tabs
        label="How it is reached"
        tabs={[
          ['command', 'A command on this machine'],
          ['url', 'An address'],
        ]}
        current={form.kind}
        onChange={(kind) => onChange({ kind })}
      />
      {form.kind === 'command' ? (
        <>
          <Field
            label="Command"
            hint="With its arguments, or the arguments below."
            {...(problems.command && { problem: problems.command })}
          >
            {input('command', 'npx -y @modelcontextprotocol/server-memory')}
          </Field>
          <Field label="More arguments" hint="One a line, without quotes.">
            {area('args', '')}
          </Field>
        </>
      ) : (
        <Field label="Address" {...(problems.url && { problem: problems.url })}>
          {input('url', 'https://mcp.example.com/mcp')}
        </Field>
      )}
      <Field
        label={form.kind === 'command' ? 'Variables' : 'Headers'}
        hint={
          <>
            One NAME=value a line. For secrets write a variable, such as <code>{'${GITHUB_TOKEN}'}</code>, and set its
            value with <Command text={asOwn('npx toolscout secret set GITHUB_TOKEN')} /> or in the environment of
            toolscout.
          </>
        }
        {...(problems.pairs && { problem: problems.pairs })}
      >
        {area('pairs', '')}
      </Field>
      <Field label="Title" hint="For people; optional.">
        {input('title', '', false)}
      </Field>
    </div>
  );
}
