import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { isNarrow } from './row-height.js';
import { scrollToRow, visibleRows } from './visible-rows.js';

/** Rows that are drawn at once where each is as high as its text. */
const MAX_NATURAL = 200;

/**
 * A list of any length of which only the rows in sight are drawn. Arrow keys move, Enter opens. With `action` each row has
 * something to be done beside it, and the list is a grid.
 */
export function VirtualList<T>({
  items,
  rowHeight,
  keyOf,
  render,
  label,
  active,
  onActive,
  onOpen,
  maxHeight = 560,
  wraps = false,
  action,
  id,
}: {
  readonly items: readonly T[];
  readonly rowHeight: number;
  readonly keyOf: (item: T, index: number) => string;
  readonly render: (item: T, index: number) => VNode;
  readonly label: string;
  readonly active?: number;
  readonly onActive?: (index: number) => void;
  readonly onOpen?: (item: T, index: number) => void;
  readonly maxHeight?: number | 'fill';
  /** On a narrow page the text wraps, and a list that is not too long has rows as high as their text. */
  readonly wraps?: boolean;
  readonly action?: (item: T) => VNode | null;
  readonly id?: string;
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const [viewHeight, setViewHeight] = useState(600);
  const [ownActive, setOwnActive] = useState(-1);
  const current = active ?? ownActive;
  const isNatural = wraps && items.length <= MAX_NATURAL && isNarrow();
  const prefix = id ?? 'row';
  const move = (index: number): void => {
    setOwnActive(index);
    onActive?.(index);
  };

  useLayoutEffect(() => {
    const element = box.current!;
    const measure = (): void => setViewHeight(element.clientHeight || 600);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = box.current!;
    if (current < 0) return;
    if (isNatural) {
      element.querySelector(`#${CSS.escape(`${prefix}-${current}`)}`)?.scrollIntoView({ block: 'nearest' });
      return;
    }
    const top = scrollToRow({
      index: current,
      rowHeight,
      scrollTop: element.scrollTop,
      viewHeight: element.clientHeight,
    });
    if (top !== element.scrollTop) element.scrollTop = top;
  }, [current, rowHeight]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 10,
      PageUp: -10,
      Home: -items.length,
      End: items.length,
    };
    const step = steps[event.key];
    if (step !== undefined && event.target === box.current) {
      event.preventDefault();
      move(Math.max(0, Math.min(items.length - 1, current + step)));
    } else if (event.key === 'Enter' && event.target === box.current && current >= 0 && items[current] !== undefined) {
      event.preventDefault();
      onOpen?.(items[current], current);
    }
  };

  const visible = visibleRows({ count: items.length, rowHeight, scrollTop, viewHeight });
  const { first, end } = isNatural ? { first: 0, end: items.length } : visible;
  const roles = action ? ({ role: 'grid', 'aria-rowcount': items.length } as const) : ({ role: 'listbox' } as const);
  return (
    <div
      ref={box}
      id={id}
      class={['virtual', maxHeight === 'fill' && 'virtual-fill', isNatural && 'virtual-natural']
        .filter(Boolean)
        .join(' ')}
      style={maxHeight === 'fill' ? undefined : { maxHeight: `${maxHeight}px` }}
      tabIndex={0}
      {...roles}
      aria-label={label}
      aria-activedescendant={current >= first && current < end ? `${prefix}-${current}` : undefined}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        if (event.target === box.current && current < 0 && items.length > 0) move(0);
      }}
    >
      <div class="virtual-space" role="presentation" style={isNatural ? {} : { height: `${visible.height}px` }}>
        <div role="presentation" style={isNatural ? {} : { transform: `translateY(${visible.offset}px)` }}>
          {items.slice(first, end).map((item, shift) => {
            const index = first + shift;
            const look = [
              'row',
              index === current && 'row-active',
              isNatural && 'row-natural',
              wraps && !isNatural && 'row-fixed',
            ];
            const place = action
              ? ({ role: 'row', 'aria-rowindex': index + 1 } as const)
              : ({ role: 'option', 'aria-setsize': items.length, 'aria-posinset': index + 1 } as const);
            return (
              <div
                key={keyOf(item, index)}
                id={`${prefix}-${index}`}
                class={look.filter(Boolean).join(' ')}
                style={isNatural ? undefined : { height: `${rowHeight}px` }}
                {...place}
                aria-selected={index === current}
                onClick={() => {
                  move(index);
                  onOpen?.(item, index);
                }}
              >
                {action ? (
                  <>
                    <div class="row-cell" role="gridcell">
                      {render(item, index)}
                    </div>
                    <div class="row-action" role="gridcell" onClick={(event) => event.stopPropagation()}>
                      {action(item)}
                    </div>
                  </>
                ) : (
                  render(item, index)
                )}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
