/** What a page shows where there is nothing: why, and what to do next. */
import type { ComponentChildren } from 'preact';

export interface EmptyStateProps {
  readonly title: string;
  /** It is all that the page has. */
  readonly isPage?: boolean;
  readonly children?: ComponentChildren;
}

export function EmptyState({ title, isPage = false, children }: EmptyStateProps) {
  const Heading = isPage ? 'h1' : 'h2';
  return (
    <div class="empty-state">
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}
