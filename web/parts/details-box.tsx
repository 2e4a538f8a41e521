import type { ComponentChildren, VNode } from 'preact';

/** Goes back from the details to the row that they are about. */
function backToList(button: HTMLElement): void {
  const list = button.closest('.details-box')?.previousElementSibling;
  list?.scrollIntoView({ block: 'start' });
  list
    ?.querySelector<HTMLElement>(':is([role="listbox"], [role="grid"]), a[aria-current="true"]')
    ?.focus({ preventScroll: true });
}

/** What is known of the marked row of a list: beside it, or below it on a narrow page, with a way back. */
export function DetailsBox({ children }: { readonly children: ComponentChildren }): VNode {
  return (
    <div class="details-box">
      <p class="back-to-list">
        <button type="button" class="button button-small" onClick={(event) => backToList(event.currentTarget)}>
          Back to the list
        </button>
      </p>
      {children}
    </div>
  );
}

/** Scrolls to the details after a row was chosen, where they begin below the screen: else nothing seems to happen. */
export function showDetails(): void {
  // They are drawn anew first.
  requestAnimationFrame(() => {
    const box = document.querySelector('.details-box');
    if (box && box.getBoundingClientRect().top > innerHeight * 0.8) box.scrollIntoView({ block: 'start' });
  });
}
