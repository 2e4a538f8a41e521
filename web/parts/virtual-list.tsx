import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { scrollToRow, visibleRows } from './visible-rows.js';

/** A list of any length of which only the rows in sight are drawn. Arrow keys move, Enter opens. */
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
  readonly id?: string;
}): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const [viewHeight, setViewHeight] = useState(600);
  const [ownActive, setOwnActive] = useState(-1);
  const current = active ?? ownActive;
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

  const { first, end, offset, height } = visibleRows({ count: items.length, rowHeight, scrollTop, viewHeight });
  const prefix = id ?? 'row';
  return (
    <div
      ref={box}
      id={id}
      class={maxHeight === 'fill' ? 'virtual virtual-fill' : 'virtual'}
      style={maxHeight === 'fill' ? undefined : { maxHeight: `${maxHeight}px` }}
      tabIndex={0}
      role="listbox"
      aria-label={label}
      aria-activedescendant={current >= first && current < end ? `${prefix}-${current}` : undefined}
      onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        if (event.target === box.current && current < 0 && items.length > 0) move(0);
      }}
    >
      <div class="virtual-space" style={{ height: `${height}px` }}>
        <div style={{ transform: `translateY(${offset}px)` }}>
          {items.slice(first, end).map((item, shift) => {
            const index = first + shift;
            return (
              <div
                key={keyOf(item, index)}
                id={`${prefix}-${index}`}
                class={index === current ? 'row row-active' : 'row'}
                style={{ height: `${rowHeight}px` }}
                role="option"
                aria-selected={index === current}
                aria-setsize={items.length}
                aria-posinset={index + 1}
                onClick={() => {
                  move(index);
                  onOpen?.(item, index);
                }}
              >
                {render(item, index)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
