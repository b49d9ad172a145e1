/**
 * Unknown and repeated fields of one body, as texts for the client: field validation refuses the body for them or warns of them.
 *
 *   unknown field "spec.replicaz"   duplicate field "spec.paused"   line 12: key "paused" already set in map
 */

/** Limit of faults kept for one body: as many as a stock server lists. */
export const MAX_FAULTS = 100;
/** Limit of faults examined, repeated ones included: bounds the work for a body full of faults. */
const MAX_REPORTS = 1_000;
/** Limit of characters of a path in a message. */
const MAX_PATH = 4_096;

export class FieldFaults {
  /** Unknown and repeated fields by their paths, in the order in which they were found. */
  readonly texts: string[] = [];
  /** Repeated keys of YAML text, which are named by their lines. */
  readonly lines: string[] = [];
  private readonly reportedTexts = new Set<string>();
  private reports = 0;

  get empty(): boolean {
    return this.texts.length === 0 && this.lines.length === 0;
  }

  /** Whether another fault would be kept; if not, its path is not built. */
  accepts(): boolean {
    return this.reportedTexts.size < MAX_FAULTS && this.reports++ < MAX_REPORTS;
  }

  add(text: string): void {
    if (!this.isNew(text)) return;
    this.texts.push(text);
  }
  addLine(text: string): void {
    if (!this.isNew(text)) return;
    this.lines.push(text);
  }
  private isNew(text: string): boolean {
    if (this.reportedTexts.size >= MAX_FAULTS || this.reportedTexts.has(text)) return false;
    this.reportedTexts.add(text);
    return true;
  }

  /** One text for each fault. */
  warnings(): string[] {
    return [...this.lines, ...this.texts];
  }
  /** `strict decoding error: unknown field "a", duplicate field "b"` */
  message(): string {
    return `strict decoding error: ${[...(this.lines.length === 0 ? [] : [this.yamlMessage()]), ...this.texts].join(', ')}`;
  }
  /** The repeated keys of YAML text as its parser names them, one a line. */
  yamlMessage(): string {
    return `yaml: unmarshal errors:\n  ${this.lines.join('\n  ')}`;
  }
}

/** The path of a field: `spec.containers[0].image`. The end of a long one is left out, and costs nothing. */
export function fieldPath(steps: readonly (string | number)[], name: string): string {
  let path = '';
  for (let i = 0; i <= steps.length && path.length <= MAX_PATH; i++) {
    const step = i === steps.length ? name : (steps[i] as string | number);
    if (typeof step === 'number') path += `[${step}]`;
    else path += `${path === '' ? '' : '.'}${step.length > MAX_PATH ? step.slice(0, MAX_PATH + 1) : step}`;
  }
  return path.length > MAX_PATH ? `${path.slice(0, MAX_PATH)}...` : path;
}
