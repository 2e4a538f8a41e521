import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { asks } from '../app/asks.js';

/** The frame of a view: a heading that takes the focus after navigation, a sentence about it, and what can be done. */
export function Page({
  title,
  lead,
  actions,
  children,
  wide,
}: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The tab shows that a question waits while another one is looked at.
    const count = asks.value.length;
    document.title = `${count > 0 ? `(${count}) ` : ''}${title.slice(0, 100)} · toolscout Studio`;
  }, [title, asks.value.length]);
  useEffect(() => {
    // A view that took the focus itself, such as the search, keeps it.
    const { activeElement } = document;
    if (activeElement === null || activeElement === document.body || !activeElement.closest('main'))
      heading.current?.focus({ preventScroll: true });
  }, []);
  return (
    <div class={wide ? 'page page-wide' : 'page'}>
      <header class="page-head">
        <div class="page-title">
          <h1
            ref={heading}
            tabIndex={-1}
            onKeyDown={(event) => {
              if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
              const list = event.currentTarget
                .closest('.page')
                ?.querySelector<HTMLElement>(':is([role="listbox"], [role="grid"])');
              if (!list) return;
              event.preventDefault();
              list.focus();
            }}
          >
            <bdi>{title.slice(0, 200)}</bdi>
          </h1>
          {lead && <p class="lead">{lead}</p>}
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** A part of a view with a heading of its own. */
export function Section({
  title,
  aside,
  children,
  flush,
}: {
  readonly title: string;
  readonly aside?: ComponentChildren;
  readonly children: ComponentChildren;
  readonly flush?: boolean;
}): VNode {
  return (
    <section class="section">
      <div class="section-head">
        <h2>{title}</h2>
        {aside && <div class="section-aside">{aside}</div>}
      </div>
      <div class={flush ? 'card card-flush' : 'card'}>{children}</div>
    </section>
  );
}

/** A name and a value, in two columns. */
export function Facts({
  items,
}: {
  readonly items: ReadonlyArray<readonly [name: string, value: ComponentChildren] | false | undefined>;
}): VNode {
  return (
    <dl class="facts">
      {items.map((item) =>
        item ? (
          <div key={item[0]}>
            <dt>{item[0]}</dt>
            <dd>{item[1]}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}
