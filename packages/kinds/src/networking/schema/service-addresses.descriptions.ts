import type { Descriptions } from '../../description-texts.ts';

export const serviceAddresses: Descriptions = {
  'networking.IPAddress': {
    $: 'An address in use. The name of the object is the address.',
    spec: 'Who uses the address.',
  },
  'networking.IPAddressSpec': { $: 'Who uses an address.', parentRef: 'The object that the address belongs to. It cannot be changed.' },
  'networking.ParentReference': {
    $: 'The object that an address belongs to.',
    group: 'The API group of the object; empty for the core group.',
    resource: 'The resource of the object, such as services.',
    namespace: 'The namespace of the object.',
    name: 'The name of the object.',
    uid: 'The uid of the object.',
  },
  'networking.ServiceCIDR': {
    $: 'A range of addresses for services.',
    spec: 'The range, for one or both families.',
    status: 'Whether addresses of the range are given out.',
  },
  'networking.ServiceCIDRSpec': {
    $: 'A range of addresses for services.',
    cidrs: 'The range, as one block of a family or one of each. Only a block of the other family can be added later.',
  },
  'networking.ServiceCIDRStatus': { $: 'Whether addresses of a range are given out.', conditions: 'Ready: addresses are given out.' },
};
