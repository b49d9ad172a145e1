export function auditResult(json: string, what: string): { readonly failed: boolean; readonly lines: readonly string[] };
