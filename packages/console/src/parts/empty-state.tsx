/** What a page shows where there is nothing: why, and what to do next. */
import type { ComponentChildren } from 'preact';

export function EmptyState({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty-state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}
