/** Moves what is larger than its place with the mouse, and zooms with the wheel while Ctrl is held. Fingers scroll by themselves. */
import { useEffect } from 'preact/hooks';

/** A press that moves less is a click. */
const CLICK_PIXELS = 4;

export function usePanning(place: { readonly current: HTMLElement | null }, onZoom: (step: number) => void): void {
  useEffect(() => {
    const element = place.current as HTMLElement;
    let start: { readonly x: number; readonly y: number; readonly left: number; readonly top: number } | undefined;
    let isMoved = false;
    const down = (event: PointerEvent): void => {
      if (event.pointerType !== 'mouse' || event.button !== 0) return;
      start = { x: event.clientX, y: event.clientY, left: element.scrollLeft, top: element.scrollTop };
      isMoved = false;
    };
    const move = (event: PointerEvent): void => {
      if (start === undefined) return;
      const [x, y] = [event.clientX - start.x, event.clientY - start.y];
      if (!isMoved && Math.hypot(x, y) < CLICK_PIXELS) return;
      isMoved = true;
      element.scrollLeft = start.left - x;
      element.scrollTop = start.top - y;
    };
    const up = (): void => {
      start = undefined;
    };
    const click = (event: MouseEvent): void => {
      if (!isMoved) return;
      event.preventDefault();
      event.stopPropagation();
      isMoved = false;
    };
    const wheel = (event: WheelEvent): void => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      onZoom(event.deltaY < 0 ? 1 : -1);
    };
    const drag = (event: Event): void => event.preventDefault();
    element.addEventListener('pointerdown', down);
    window.addEventListener('pointermove', move);
    window.addEventListener('pointerup', up);
    element.addEventListener('click', click, { capture: true });
    element.addEventListener('dragstart', drag);
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      element.removeEventListener('pointerdown', down);
      window.removeEventListener('pointermove', move);
      window.removeEventListener('pointerup', up);
      element.removeEventListener('click', click, { capture: true });
      element.removeEventListener('dragstart', drag);
      element.removeEventListener('wheel', wheel);
    };
  }, [onZoom]);
}
