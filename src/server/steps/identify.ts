/** The first steps: an id for the audit trail, headers of every answer, and what the path asks for. */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import { requestInfo } from '../request-info.ts';
import type { Step } from '../pipeline.ts';

/** Ids that clients may choose themselves, within reason. */
const goodId = /^[\x21-\x7e]{1,64}$/;

export const auditId: Step = (ctx) => {
  const given = ctx.header('audit-id');
  ctx.auditId = given !== undefined && goodId.test(given) ? given : randomUUID();
  ctx.headers.push('Audit-Id', ctx.auditId, 'Cache-Control', 'no-cache, private');
};

export const findInfo: Step = (ctx: Context) => {
  ctx.info = requestInfo(ctx.method, ctx.path, (name) => ctx.param(name));
};
