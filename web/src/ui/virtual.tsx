import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core';
import type { ComponentChildren, Ref, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Props {
  count: number;
  height: (index: number) => number; // estimated, in pixels; what is drawn is measured
  name: (index: number) => string | number;
  row: (index: number) => ComponentChildren;
  class: string;
  label: string;
  goto?: number; // index to begin at
  handle?: Ref<{ scrollTo: (index: number) => void }>;
  role?: 'list' | 'table' | 'group';
}

/** VirtualList draws only the rows that are visible, of any number of rows. */
export function VirtualList(p: Props): VNode {
  const box = useRef<HTMLDivElement>(null);
  const [, draw] = useState(0);
  const [list] = useState(() => new Virtualizer<HTMLDivElement, HTMLDivElement>({
    count: p.count, getScrollElement: () => box.current, estimateSize: p.height, getItemKey: p.name, overscan: 12,
    scrollToFn: elementScroll, observeElementRect, observeElementOffset, onChange: () => draw((n) => n + 1),
  }));
  list.setOptions({ ...list.options, count: p.count, estimateSize: p.height, getItemKey: p.name });
  useLayoutEffect(() => list._didMount(), []);
  useLayoutEffect(() => list._willUpdate());
  useLayoutEffect(() => {
    if (p.handle && typeof p.handle !== 'function') p.handle.current = { scrollTo: (i) => list.scrollToIndex(i, { align: 'start' }) };
  }, []);
  useLayoutEffect(() => { if (p.goto !== undefined && p.goto >= 0) list.scrollToIndex(p.goto, { align: 'start' }); }, [p.goto]);
  const shown = list.getVirtualItems();
  return (
    <div ref={box} class={'virtual ' + p.class} tabIndex={0} role={p.role ?? 'group'} aria-label={p.label}>
      <div class="virtual-all" style={{ height: list.getTotalSize() + 'px' }}>
        <div class="virtual-part" style={{ transform: 'translateY(' + (shown[0]?.start ?? 0) + 'px)' }}>
          {shown.map((v) => <div key={v.key} data-index={v.index} ref={(node) => { if (node) list.measureElement(node); }}>{p.row(v.index)}</div>)}
        </div>
      </div>
    </div>
  );
}
