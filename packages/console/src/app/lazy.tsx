/** Parts of the page that are loaded when they are first shown, and a page that survives the failure of one of its parts. */
import { Component, type ComponentChildren, type ComponentType } from 'preact';
import { ErrorBox } from '../parts/error-box.tsx';
import { Progress } from '../parts/progress.tsx';
import { useLoaded } from './use.ts';

export type Load<P> = () => Promise<{ readonly default: ComponentType<P> }>;

/** Shows the default export of a module. `name` says which one, so that another one is loaded where it differs. */
export function Lazy<P extends object>({ name, load, props }: { readonly name: string; readonly load: Load<P>; readonly props: P }) {
  const module = useLoaded(load, [name]);
  if (module.phase === 'loading') return <Progress />;
  if (module.phase === 'failed')
    return <ErrorBox error={new Error('This part of the console could not be loaded. Reload the page to try again.')} />;
  const Part = module.value.default as ComponentType<object>;
  return (
    <Boundary key={name}>
      <Part {...props} />
    </Boundary>
  );
}

class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: unknown }> {
  static override getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override render() {
    if (this.state.error !== undefined) return <ErrorBox error={this.state.error} onRetry={() => this.setState({ error: undefined })} />;
    return this.props.children;
  }
}
