import type { ComponentChildren, VNode } from 'preact';

/** What is known of the marked row of a list: beside it, or below it on a narrow page. */
export function DetailsBox({ children }: { readonly children: ComponentChildren }): VNode {
  return <div class="details-box">{children}</div>;
}

/** Scrolls to the details after a row was chosen, where they begin below the screen: else nothing seems to happen. */
export function showDetails(): void {
  // They are drawn anew first.
  requestAnimationFrame(() => {
    const box = document.querySelector('.details-box');
    if (box && box.getBoundingClientRect().top > innerHeight * 0.8) box.scrollIntoView({ block: 'start' });
  });
}
