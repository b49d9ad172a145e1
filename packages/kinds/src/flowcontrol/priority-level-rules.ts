/** Validation of priority levels. */
import { equal } from '@plat-dev/lib/equal';
import { type FieldErrors, Path } from '@plat-dev/meta/field';
import { EXEMPT, mandatoryLevels } from './mandatory-objects.ts';
import type {
  LimitedPriorityLevelConfiguration,
  LimitResponse,
  PriorityLevelConfiguration,
  QueuingConfiguration,
} from './schema/v1beta2.ts';

const spec = Path.of('spec');
const MAX_QUEUES = 10_000_000;
/** Bits of the hash that assigns queues to a flow (shuffle sharding). */
const HASH_BITS = 60;

export function validatePriorityLevel(level: PriorityLevelConfiguration, errors: FieldErrors): void {
  const { name = '' } = level.metadata;
  const { type, limited } = level.spec;
  const at = spec.child('type');
  if ((name === EXEMPT) !== (type === 'Exempt')) errors.invalid(at, type, `type must be 'Exempt' if and only if name is '${EXEMPT}'`);
  if (type === 'Exempt') {
    if (limited !== undefined) errors.forbidden(spec.child('limited'), 'must be nil if the type is not Limited');
  } else if (type !== 'Limited') errors.notSupported(at, type, ['Exempt', 'Limited']);
  else if (limited === undefined) errors.required(spec.child('limited'), 'must not be empty when type is Limited');
  else validateLimits(limited, spec.child('limited'), errors);
  const mandatory = mandatoryLevels.get(name);
  if (mandatory !== undefined && !equal(level.spec, mandatory))
    errors.invalid(spec, level.spec, `spec of '${name}' must equal the fixed value`);
}

function validateLimits(limits: LimitedPriorityLevelConfiguration, at: Path, errors: FieldErrors): void {
  const { assuredConcurrencyShares: shares, limitResponse } = limits;
  if (shares <= 0) errors.invalid(at.child('assuredConcurrencyShares'), shares, 'must be positive');
  validateResponse(limitResponse, at.child('limitResponse'), errors);
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
