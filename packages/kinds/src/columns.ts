/** Table columns that many kinds share. */
import type { Column } from './kind.ts';

export const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description: 'The name of the object, unique within its kind and namespace.',
};

/** The age of the object, such as `5d`. */
export const ageColumn: Column = { name: 'Age', type: 'string', description: 'How long ago the object was made.' };

/** The column of a kind without columns of its own, after the name. */
const createdAtColumn: Column = { name: 'Created At', type: 'date', description: 'When the object was made.' };

export const defaultColumns: readonly Column[] = [nameColumn, createdAtColumn];
