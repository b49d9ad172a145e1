/** The flag by which commands choose containers. */
import { text } from '@plat-dev/lib/flags';

export const containersFlag = text('*', 'Names of the containers to change; * stands for any characters.', { short: 'c', value: 'NAMES' });
