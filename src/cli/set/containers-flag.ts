/** The flag by which commands choose containers. */
import { text } from '../../lib/flags.ts';

export const containersFlag = text('*', 'Names of the containers to change; * stands for any characters.', { short: 'c', value: 'NAMES' });
