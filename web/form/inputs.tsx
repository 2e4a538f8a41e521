import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Json } from '../api/types.js';
import { Icon } from '../parts/icon.js';
import { ServerText } from '../parts/server-text.js';
import { Badge } from '../parts/states.js';
import type { Field } from './field.js';
import { limitsText } from './limits.js';
import { entryOf, fits, initialValue, newEntry, type Draft, type FormProblem } from './value.js';

/** What every input gets. */
interface InputProps<Kind extends Field['kind'] = Field['kind']> {
  readonly field: Field & { kind: Kind };
  readonly value: Draft;
  readonly path: string;
  readonly problems: readonly FormProblem[];
  readonly onChange: (next: Draft) => void;
}

function typeName(field: Field): string {
  switch (field.kind) {
    case 'text':
      return field.format ?? 'text';
    case 'number':
      return field.integer ? 'whole number' : 'number';
    case 'boolean':
      return 'yes or no';
    case 'choice':
      return 'choice';
    case 'list':
      return 'list';
    case 'union':
      return 'one of several';
    case 'object':
      return 'group';
    case 'json':
      return 'JSON';
  }
}

/** The type, and what a value of it may be. */
function typeText(field: Field): string {
  return [typeName(field), limitsText(field)].filter((text) => text !== '').join(', ');
}

/** A label, what is to be entered, and what is wrong with it, around an input that they describe. */
function Frame({
  field,
  path,
  problems,
  id,
  children,
  as = 'label',
}: Pick<InputProps, 'field' | 'path' | 'problems'> & {
  readonly id: string;
  readonly children: ComponentChildren;
  readonly as?: 'label' | 'span';
}): VNode {
  const own = problems.filter((problem) => problem.path === path);
  const Label = as;
  return (
    <div class="field">
      <Label class="field-label" {...(as === 'label' ? { for: id } : { id: `${id}-label` })}>
        <bdi>{field.label.slice(0, 120)}</bdi> <span class="muted small">{typeText(field)}</span>{' '}
        {field.required && <Badge tone="accent">required</Badge>}
      </Label>
      {children}
      {field.description && (
        <span class="field-hint" id={`${id}-hint`}>
          <ServerText text={field.description} limit={300} />
        </span>
      )}
      {own.map(({ message }) => (
        <span key={message} class="field-problem" id={`${id}-problem`} role="alert">
          {field.label.slice(0, 60)} {message}
        </span>
      ))}
    </div>
  );
}

/** Attributes by which a screen reader knows what an input is about. */
function described(id: string, { field, path, problems }: Pick<InputProps, 'field' | 'path' | 'problems'>) {
  const hasProblem = problems.some((problem) => problem.path === path);
  return {
    id,
    'aria-invalid': hasProblem,
    'aria-required': field.required,
    'aria-describedby':
      [field.description && `${id}-hint`, hasProblem && `${id}-problem`].filter(Boolean).join(' ') || undefined,
  };
}

function TextInput(props: InputProps<'text'>): VNode {
  const { field, value, onChange } = props;
  const id = useId();
  const text = typeof value === 'string' ? value : '';
  const isLong =
    text.length > 80 ||
    text.includes('\n') ||
    (field.maxLength ?? 0) > 400 ||
    /content|body|text|message|query|prompt/i.test(field.label);
  const change = (next: string): void => onChange(next === '' && !field.required ? undefined : next);
  const placeholder = field.examples[0] ?? (field.format === 'date-time' ? '2026-01-31T09:00:00Z' : undefined);
  return (
    <Frame {...props} id={id}>
      {isLong ? (
        <textarea
          class="input"
          rows={3}
          placeholder={placeholder}
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
          {...described(id, props)}
        />
      ) : (
        <input
          class="input"
          type="text"
          autocomplete="off"
          placeholder={placeholder}
          value={text}
          onInput={(event) => change(event.currentTarget.value)}
          {...described(id, props)}
        />
      )}
    </Frame>
  );
}

function NumberInput(props: InputProps<'number'>): VNode {
  const { field, value, onChange } = props;
  const id = useId();
  const change = (text: string): void => {
    const number = Number(text);
    onChange(text.trim() === '' ? undefined : Number.isNaN(number) ? text : number);
  };
  return (
    <Frame {...props} id={id}>
      <input
        class="input"
        type="text"
        inputMode={field.integer ? 'numeric' : 'decimal'}
        autocomplete="off"
        value={value === undefined || value === null ? '' : String(value as Json)}
        onInput={(event) => change(event.currentTarget.value)}
        {...described(id, props)}
      />
    </Frame>
  );
}

function ChoiceInput(props: InputProps<'choice'>): VNode {
  const { field, value, onChange } = props;
  const id = useId();
  const index = field.options.findIndex((option) => JSON.stringify(option.value) === JSON.stringify(value));
  return (
    <Frame {...props} id={id}>
      <select
        class="input"
        value={String(index)}
        onChange={(event) => {
          const chosen = Number(event.currentTarget.value);
          onChange(chosen < 0 ? undefined : field.options[chosen]!.value);
        }}
        {...described(id, props)}
      >
        <option value="-1">{field.required ? 'Choose…' : 'Not given'}</option>
        {field.options.map((option, place) => (
          <option key={place} value={String(place)}>
            {option.label.slice(0, 120)}
          </option>
        ))}
      </select>
    </Frame>
  );
}

function BooleanInput(props: InputProps<'boolean'>): VNode {
  const { field, value, onChange } = props;
  const options = [
    { label: 'Yes (true)', value: true },
    { label: 'No (false)', value: false },
  ];
  return <ChoiceInput {...props} field={{ ...field, kind: 'choice', options }} value={value} onChange={onChange} />;
}

function JsonInput(props: InputProps<'json'>): VNode {
  const { value, onChange } = props;
  const id = useId();
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
  const [wrong, setWrong] = useState<string>();
  const change = (next: string): void => {
    setText(next);
    if (next.trim() === '') {
      setWrong(undefined);
      onChange(undefined);
      return;
    }
    try {
      onChange(JSON.parse(next) as Json);
      setWrong(undefined);
    } catch (thrown) {
      setWrong(`is not JSON: ${(thrown as Error).message}`);
    }
  };
  const problems = wrong === undefined ? props.problems : [...props.problems, { path: props.path, message: wrong }];
  return (
    <Frame {...props} problems={problems} id={id}>
      <textarea
        class="input mono"
        rows={3}
        spellcheck={false}
        placeholder="JSON"
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
        {...described(id, { ...props, problems })}
      />
    </Frame>
  );
}

function ObjectInput(props: InputProps<'object'>): VNode {
  const { field, value, path, problems, onChange } = props;
  const record = (typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}) as Record<
    string,
    Draft
  >;
  if (value === undefined && !field.required) {
    return (
      <div class="field">
        <span class="field-label">
          <bdi>{field.label}</bdi>
          <span class="muted small">group</span>
        </span>
        <div>
          <button
            type="button"
            class="button button-small"
            onClick={() => onChange(initialValue({ ...field, required: true }))}
          >
            <Icon name="plus" />
            Fill in {field.label.slice(0, 60)}
          </button>
        </div>
      </div>
    );
  }
  return (
    <fieldset class="group">
      <legend class="field-label">
        <bdi>{field.label}</bdi>
        {!field.required && (
          <button type="button" class="link small" onClick={() => onChange(undefined)}>
            leave out
          </button>
        )}
      </legend>
      {field.description && (
        <span class="field-hint">
          <ServerText text={field.description} limit={300} />
        </span>
      )}
      <Fields field={field} value={record} path={path} problems={problems} onChange={onChange} />
    </fieldset>
  );
}

/** The inputs of an object, without a frame of their own. */
export function Fields({ field, value, path, problems, onChange }: InputProps<'object'>): VNode {
  const record = (value ?? {}) as Record<string, Draft>;
  return (
    <>
      {field.fields.map(({ name, field: inner }) => (
        <Input
          key={name}
          field={inner}
          value={record[name]}
          path={`${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`}
          problems={problems}
          onChange={(next) => onChange({ ...record, [name]: next })}
        />
      ))}
    </>
  );
}

function ListInput(props: InputProps<'list'>): VNode {
  const { field, value, path, problems, onChange } = props;
  const id = useId();
  const items = Array.isArray(value) ? (value as Draft[]) : [];
  const isFull = field.maxItems !== undefined && items.length >= field.maxItems;
  return (
    <Frame {...props} id={id} as="span">
      <div class="group" role="group" aria-labelledby={`${id}-label`}>
        {items.map((item, index) => (
          <div key={index} class="list-item">
            <div class="grow">
              <Input
                field={{ ...field.item, label: `${field.label} ${index + 1}` }}
                value={item}
                path={`${path}/${index}`}
                problems={problems}
                onChange={(next) => onChange(items.map((old, place) => (place === index ? entryOf(field, next) : old)))}
              />
            </div>
            <button
              type="button"
              class="icon-button"
              aria-label={`Remove ${field.label.slice(0, 60)} ${index + 1}`}
              onClick={() => {
                const rest = items.filter((_, place) => place !== index);
                onChange(rest.length === 0 && !field.required ? undefined : rest);
              }}
            >
              <Icon name="cross" />
            </button>
          </div>
        ))}
        <div>
          <button
            type="button"
            class="button button-small"
            disabled={isFull}
            onClick={() => onChange([...items, newEntry(field)])}
          >
            <Icon name="plus" />
            Add to {field.label.slice(0, 60)}
          </button>
        </div>
      </div>
    </Frame>
  );
}

function UnionInput(props: InputProps<'union'>): VNode {
  const { field, value, path, problems, onChange } = props;
  const id = useId();
  const fitting = field.variants.findIndex((variant) => value !== undefined && fits(variant, value));
  const [chosen, setChosen] = useState(fitting >= 0 ? fitting : field.required ? 0 : -1);
  const variant = field.variants[chosen];
  return (
    <Frame {...props} id={id}>
      <select
        class="input"
        id={id}
        value={String(chosen)}
        onChange={(event) => {
          const next = Number(event.currentTarget.value);
          setChosen(next);
          onChange(next < 0 ? undefined : initialValue({ ...field.variants[next]!, required: true }));
        }}
      >
        {!field.required && <option value="-1">Not given</option>}
        {field.variants.map(({ label }, index) => (
          <option key={index} value={String(index)}>
            {label.slice(0, 120)}
          </option>
        ))}
      </select>
      {variant && (
        <div class="group">
          {variant.kind === 'object' ? (
            <Fields key={chosen} field={variant} value={value} path={path} problems={problems} onChange={onChange} />
          ) : (
            <Input key={chosen} field={variant} value={value} path={path} problems={problems} onChange={onChange} />
          )}
        </div>
      )}
    </Frame>
  );
}

/** The input of a field, whatever its kind. */
export function Input(props: InputProps): VNode {
  switch (props.field.kind) {
    case 'text':
      return <TextInput {...(props as InputProps<'text'>)} />;
    case 'number':
      return <NumberInput {...(props as InputProps<'number'>)} />;
    case 'boolean':
      return <BooleanInput {...(props as InputProps<'boolean'>)} />;
    case 'choice':
      return <ChoiceInput {...(props as InputProps<'choice'>)} />;
    case 'object':
      return <ObjectInput {...(props as InputProps<'object'>)} />;
    case 'list':
      return <ListInput {...(props as InputProps<'list'>)} />;
    case 'union':
      return <UnionInput {...(props as InputProps<'union'>)} />;
    case 'json':
      return <JsonInput {...(props as InputProps<'json'>)} />;
  }
}
