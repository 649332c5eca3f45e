import { Component, h, type FunctionComponent, type VNode } from 'preact';

/** memo renders a component again only when one of its properties has changed. */
export function memo<P extends object>(inner: FunctionComponent<P>): FunctionComponent<P> {
  class Kept extends Component<P> {
    override shouldComponentUpdate(next: P): boolean {
      const old = this.props as P;
      return (Object.keys(next) as (keyof P)[]).some((k) => next[k] !== old[k]);
    }
    override render(): VNode { return h(inner as FunctionComponent<object>, this.props as object); }
  }
  return Kept as unknown as FunctionComponent<P>;
}
