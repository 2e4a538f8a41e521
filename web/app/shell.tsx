import { signal } from '@preact/signals';
import type { ComponentChildren, RefObject, VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from '../parts/icon.js';
import { LookOnly } from '../parts/look-only.js';
import { Command, ServerText } from '../parts/server-text.js';
import { Advice } from '../parts/states.js';
import { askLine } from '../text/ask-words.js';
import { plural } from '../text/format.js';
import { asks, asksElsewhere, placeOfAsk } from './asks.js';
import { HelpDialog } from './help.js';
import { isHelpOpen } from './keyboard.js';
import { liveState, reconnects } from './live.js';
import { dismiss, notices, tell } from './notices.js';
import { route, type Route } from './router.js';
import { nextTheme, theme } from './theme.js';
import { waiting } from './waiting.js';
import { wayBack } from './way-back.js';
import { asOwn, session, signOut } from './session.js';

/** One entry of the navigation. */
interface Entry {
  readonly view: string;
  readonly label: string;
  readonly icon: IconName;
}

const WATCH: readonly Entry[] = [
  { view: 'home', label: 'Home', icon: 'home' },
  { view: 'search', label: 'Search', icon: 'search' },
  { view: 'held', label: 'Held back', icon: 'tool' },
  { view: 'servers', label: 'Servers', icon: 'servers' },
  { view: 'traffic', label: 'Traffic', icon: 'traffic' },
  { view: 'audit', label: 'Audit', icon: 'audit' },
];
const CONTROL: readonly Entry[] = [
  { view: 'approvals', label: 'Approvals', icon: 'approvals' },
  { view: 'rules', label: 'Rules', icon: 'rules' },
  { view: 'skills', label: 'Skills', icon: 'skills' },
  { view: 'config', label: 'Config', icon: 'config' },
];

const THEME_NAMES = { system: 'System theme', light: 'Light theme', dark: 'Dark theme' } as const;
const THEME_ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const;
const LIVE = {
  connecting: ['', 'Connecting'],
  live: ['dot-ok', 'Live'],
  lost: ['dot-bad', 'Disconnected'],
} as const;

const isMenuOpen = signal(false);

function Links({
  title,
  entries,
  current,
}: {
  readonly title: string;
  readonly entries: readonly Entry[];
  readonly current: string;
}): VNode {
  return (
    <>
      <p class="nav-title" id={`nav-${title}`}>
        {title}
      </p>
      <ul aria-labelledby={`nav-${title}`}>
        {entries.map(({ view, label, icon }) => (
          <li key={view}>
            <a
              href={`#/${view}`}
              aria-current={view === current ? 'page' : undefined}
              onClick={() => (isMenuOpen.value = false)}
            >
              <Icon name={icon} />
              {label}
              {view === 'approvals' && waiting.value > 0 && (
                <span class="nav-count">
                  {waiting.value}
                  <span class="sr-only"> waiting</span>
                </span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}

function Notices(): VNode {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, tone, text, more }) => (
        <div key={id} class={`notice notice-${tone}`}>
          <div class="grow">
            <p>{text}</p>
            {more && (
              <p class="muted small">
                <Advice text={more} />
              </p>
            )}
          </div>
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="cross" />
          </button>
        </div>
      ))}
    </div>
  );
}

/** Questions that wait on another page than the one that is open: they are forgotten easily. */
function Asks({ here }: { readonly here: Route }): VNode | null {
  const [first, ...more] = asksElsewhere(asks.value, here);
  // Home lists them among what needs attention.
  if (first === undefined || here.view === 'home') return null;
  return (
    <div class="banner banner-ask" role="status">
      <Icon name="approvals" />
      <span>
        <ServerText text={askLine(first)} limit={200} />
        {more.length > 0 &&
          `, and ${plural(more.length, 'more question')} ${more.length === 1 ? 'waits' : 'wait'}`}.{' '}
        <a href={placeOfAsk(first)}>Answer it</a>
      </span>
    </div>
  );
}

/** Closes the menu of a narrow page: on Esc, on a tap outside it, and when another view opens, also with the browser's Back. */
function useMenuCloses(header: RefObject<HTMLElement | null>): void {
  const isOpen = isMenuOpen.value;
  const here = route.value;
  useEffect(() => {
    isMenuOpen.value = false;
  }, [here]);
  // Before the next key can be pressed, not after the page is drawn.
  useLayoutEffect(() => {
    if (!isOpen) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || document.querySelector('dialog[open]')) return;
      isMenuOpen.value = false;
      header.current?.querySelector<HTMLElement>('.menu-button')?.focus();
    };
    const onPress = (event: Event): void => {
      if (!header.current?.contains(event.target as Node)) isMenuOpen.value = false;
    };
    addEventListener('keydown', onKey);
    addEventListener('pointerdown', onPress);
    return () => {
      removeEventListener('keydown', onKey);
      removeEventListener('pointerdown', onPress);
    };
  }, [isOpen]);
}

/** The frame around every view: navigation, the state of the connection, notices. */
export function Shell({ children }: { readonly children: ComponentChildren }): VNode {
  const { view, parts } = route.value;
  const current = view === 'tool' ? wayBack(parts[0] ?? '').view : view;
  const [dot, word] = LIVE[liveState.value];
  const waits = [
    waiting.value > 0 ? `${waiting.value} waiting for approval` : '',
    asks.value.length > 0 ? `${plural(asks.value.length, 'question')} for you` : '',
  ].filter(Boolean);
  const header = useRef<HTMLElement>(null);
  useMenuCloses(header);
  useEffect(() => {
    let seen = reconnects.peek();
    return reconnects.subscribe((count) => {
      if (count > seen) tell('toolscout is back. What you see is current again.');
      seen = count;
    });
  }, []);
  return (
    <div class="shell">
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to content
      </a>
      <header ref={header} class={isMenuOpen.value ? 'side side-open' : 'side'}>
        <div class="side-top">
          <a class="brand" href="#/home">
            <span class="brand-mark">
              <Icon name="search" />
            </span>
            toolscout
          </a>
          <button
            type="button"
            class="icon-button menu-button"
            aria-expanded={isMenuOpen.value}
            aria-label={['Menu', ...waits].join(', ')}
            title={waits.length > 0 ? waits.join(', ') : undefined}
            onClick={() => (isMenuOpen.value = !isMenuOpen.value)}
          >
            <Icon name="menu" />
            {waits.length > 0 && <span class="menu-dot" />}
          </button>
        </div>
        <nav class="nav" aria-label="Views">
          {asks.value.length > 0 && (
            <a class="nav-ask" href={placeOfAsk(asks.value[0]!)} onClick={() => (isMenuOpen.value = false)}>
              <Icon name="approvals" />
              {asks.value.length === 1 ? 'Question waits' : 'Questions wait'}
              <span class="nav-count">{asks.value.length}</span>
            </a>
          )}
          <Links title="Watch" entries={WATCH} current={current} />
          <Links title="Control" entries={CONTROL} current={current} />
        </nav>
        <div class="side-foot">
          <div class="live" role="status">
            <span class={`dot ${dot}`} />
            {word}
          </div>
          <button type="button" onClick={nextTheme} title="Light, dark, or as the system says">
            <Icon name={THEME_ICONS[theme.value]} />
            {THEME_NAMES[theme.value]}
          </button>
          <button type="button" onClick={() => (isHelpOpen.value = true)}>
            <Icon name="keyboard" />
            Keys and help
          </button>
          {session.value?.csrf !== undefined && (
            <button type="button" onClick={() => void signOut()}>
              <Icon name="out" />
              Sign out{session.value.required && ` ${session.value.principal}`}
            </button>
          )}
        </div>
      </header>
      <main class="main" id="main" tabIndex={-1}>
        {liveState.value === 'lost' && (
          <div class="banner" role="alert">
            <Icon name="warn" />
            <span>
              toolscout does not answer. The page shows what it last knew and reconnects by itself. If it does not run,
              start it with <Command text={asOwn('npx toolscout studio')} />.
            </span>
          </div>
        )}
        <LookOnly class="banner" />
        <Asks here={route.value} />
        {children}
      </main>
      <Notices />
      {isHelpOpen.value && <HelpDialog />}
    </div>
  );
}
