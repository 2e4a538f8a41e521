import type { VNode } from 'preact';

/** One of several ways to look at the same thing. */
export function Tabs<Name extends string>({
  label,
  tabs,
  current,
  onChange,
}: {
  readonly label: string;
  readonly tabs: ReadonlyArray<readonly [name: Name, label: string]>;
  readonly current: Name;
  readonly onChange: (name: Name) => void;
}): VNode {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const index = (tabs.findIndex(([name]) => name === current) + step + tabs.length) % tabs.length;
    onChange(tabs[index]![0]);
    const list = event.currentTarget as HTMLElement;
    (list.children[index] as HTMLElement).focus();
  };
  return (
    <div class="tabs" role="radiogroup" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map(([name, text]) => (
        <button
          key={name}
          type="button"
          role="radio"
          aria-checked={name === current}
          tabIndex={name === current ? 0 : -1}
          class={name === current ? 'tab tab-current' : 'tab'}
          onClick={() => onChange(name)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
