/** Validation of priority levels. */
import { equal } from '@plat-dev/lib/equal';
import { without } from '@plat-dev/lib/own';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import type { KindEnv, WriteRequest } from '../kind.ts';
import { EXEMPT, mandatoryLevel } from './mandatory-objects.ts';
import type {
  ExemptPriorityLevelConfiguration,
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from './schema/v1beta2.ts';

const spec = Path.of('spec');
const MAX_QUEUES = 10_000_000;
/** Bits of the hash that assigns queues to a flow (shuffle sharding). */
const HASH_BITS = 60;

export function validatePriorityLevel(level: PriorityLevelConfiguration, errors: FieldErrors, env: KindEnv, request: WriteRequest): void {
  const { name = '' } = level.metadata;
  const { type, limited, exempt } = level.spec;
  const at = spec.child('type');
  if ((name === EXEMPT) !== (type === 'Exempt')) errors.invalid(at, type, onlyExempt(env));
  if (type === 'Exempt') {
    if (limited !== undefined) errors.forbidden(spec.child('limited'), 'must be nil if the type is not Limited');
    if (exempt !== undefined) validateExemption(exempt, spec.child('exempt'), errors);
  } else if (type !== 'Limited') {
    if (type === '' && env.since('1.34')) errors.required(at);
    else errors.notSupported(at, type, ['Exempt', 'Limited']);
  } else {
    if (exempt !== undefined) errors.forbidden(spec.child('exempt'), 'must be nil if the type is Limited');
    if (limited === undefined) errors.required(spec.child('limited'), 'must not be empty when type is Limited');
    else validateLimits(limited, spec.child('limited'), errors, env, sharesField(request));
  }
  validateMandatory(level, errors, env);
}
const onlyExempt = (env: KindEnv): string =>
  env.since('1.34') ? "must be 'Exempt' if and only if `name` is 'exempt'" : `type must be 'Exempt' if and only if name is '${EXEMPT}'`;

/** What the server cannot do without keeps its meaning; since 1.28 the shares of exempt requests may change. */
function validateMandatory(level: PriorityLevelConfiguration, errors: FieldErrors, env: KindEnv): void {
  const { name = '' } = level.metadata;
  const mandatory = mandatoryLevel(name, env);
  if (mandatory === undefined) return;
  if (name === EXEMPT && env.since('1.28')) {
    if (!equal(without(level.spec, 'exempt'), without(mandatory, 'exempt')))
      errors.invalid(spec, level.spec, `spec of '${name}' except the 'spec.exempt' field must equal the fixed value`);
  } else if (!equal(level.spec, mandatory)) errors.invalid(spec, level.spec, `spec of '${name}' must equal the fixed value`);
}

/** The shares, as the version of the request names them. */
const sharesField = ({ resource: { version } }: WriteRequest): string =>
  version === 'v1' || version === 'v1beta3' ? 'nominalConcurrencyShares' : 'assuredConcurrencyShares';

function validateLimits(limits: LimitedPriorityLevelConfiguration, at: Path, errors: FieldErrors, env: KindEnv, sharesName: string): void {
  const { assuredConcurrencyShares: shares, limitResponse, lendablePercent = 0, borrowingLimitPercent = 0 } = limits;
  if (env.since('1.29') && env.feature('ZeroLimitedNominalConcurrencyShares')) {
    if (shares < 0) errors.invalid(at.child(sharesName), shares, notNegative);
  } else if (shares <= 0) errors.invalid(at.child(sharesName), shares, 'must be positive');
  validateResponse(limitResponse, at.child('limitResponse'), errors);
  validatePercentage(lendablePercent, at.child('lendablePercent'), errors);
  if (borrowingLimitPercent < 0) errors.invalid(at.child('borrowingLimitPercent'), borrowingLimitPercent, `if specified, ${notNegative}`);
}
const notNegative = 'must be a non-negative integer';

function validateExemption(exempt: ExemptPriorityLevelConfiguration, at: Path, errors: FieldErrors): void {
  const { nominalConcurrencyShares: shares = 0, lendablePercent = 0 } = exempt;
  if (shares < 0) errors.invalid(at.child('nominalConcurrencyShares'), shares, notNegative);
  validatePercentage(lendablePercent, at.child('lendablePercent'), errors);
}
function validatePercentage(value: number, at: Path, errors: FieldErrors): void {
  if (value < 0 || value > 100) errors.invalid(at, value, 'must be between 0 and 100, inclusive');
}

function validateResponse({ type, queuing }: LimitResponse, at: Path, errors: FieldErrors): void {
  const here = at.child('queuing');
  if (type === 'Reject') {
    if (queuing !== undefined) errors.forbidden(here, 'must be nil if limited.limitResponse.type is not Limited');
  } else if (type !== 'Queue') errors.notSupported(at.child('type'), type, ['Queue', 'Reject']);
  else if (queuing === undefined) errors.required(here, 'must not be empty if limited.limitResponse.type is Limited');
  else validateQueuing(queuing, here, errors);
}

function validateQueuing({ queues, handSize, queueLengthLimit }: QueuingConfiguration, at: Path, errors: FieldErrors): void {
  const hand = at.child('handSize');
  if (queueLengthLimit <= 0) errors.invalid(at.child('queueLengthLimit'), queueLengthLimit, 'must be positive');
  if (queues <= 0) errors.invalid(at.child('queues'), queues, 'must be positive');
  else if (queues > MAX_QUEUES) errors.invalid(at.child('queues'), queues, `must not be greater than ${MAX_QUEUES}`);
  if (handSize <= 0) errors.invalid(hand, handSize, 'must be positive');
  else if (handSize > queues) errors.invalid(hand, handSize, `should not be greater than queues (${queues})`);
  else if (Math.ceil(Math.log2(queues) * handSize) > HASH_BITS)
    errors.invalid(
      hand,
      handSize,
      `required entropy bits of deckSize ${queues} and handSize ${handSize} should not be greater than ${HASH_BITS}`,
    );
}
