import { expect, test } from 'vitest';

import { Pooling } from '../src/gen/phosphene_pb';
import {
  describePooling, formatCount, formatElements, formatInterval, formatShare, formatValue, nameOfDType, nameOfKind,
} from '../src/ui/words';
import { section } from './make';

test('values have three digits and a true minus', () => {
  expect([0, 0.034, -0.21, 1234.5, 6.1e-6, -1e28, 1e5, NaN, Infinity, -Infinity].map(formatValue)).toEqual([
    '0', '0.034', '−0.21', '1230', '6.1e−6', '−1e28', '1e5', 'NaN', '∞', '−∞',
  ]);
});

test('counts are grouped, shares are not rounded to nothing or to all', () => {
  expect(formatCount(1500000)).toBe('1\u202f500\u202f000');
  expect(formatShare(0.031)).toBe('3.1\u202f%');
  expect(formatShare(0.00001)).toBe('0.001\u202f%');
  expect(formatShare(1)).toBe('100\u202f%');
  expect(formatShare(0)).toBe('0\u202f%');
});

test('elements are one index, a run, or a first and a last', () => {
  expect(formatElements({ first: [9, 14, 1, 2], last: [9, 14, 1, 2], count: 1 })).toBe('[9, 14, 1, 2]');
  expect(formatElements({ first: [9, 12], last: [9, 15], count: 4 })).toBe('[9, 12…15]');
  expect(formatElements({ first: [0, 3], last: [2, 1], count: 7 })).toBe('[0, 3] … [2, 1]');
  expect(formatElements({ first: [], last: [], count: 1 })).toBe('[]');
});

test('intervals at the ends are open', () => {
  expect(formatInterval([0.1, 0.2])).toBe('0.1 … 0.2');
  expect(formatInterval([-Infinity, -0.2])).toBe('< −0.2');
  expect(formatInterval([0.2, Infinity])).toBe('≥ 0.2');
  expect(formatInterval([0.5, 0.5])).toBe('0.5');
});

test('types and kinds have the names of the hooks', () => {
  expect([1, 4, 9].map(nameOfDType)).toEqual(['float32', 'bfloat16', 'levels4']);
  expect([1, 2, 3, 4].map(nameOfKind)).toEqual(['parameter', 'gradient', 'activation', 'frame']);
});

test('pooling is said, and what is left out', () => {
  expect(describePooling(section({ pooling: Pooling.NONE, shown: 1 }))).toBe('');
  expect(describePooling(section({ pooling: Pooling.RMS, shown: 1 }))).toBe('root mean square');
  expect(describePooling(section({ pooling: Pooling.EXTREME, shown: 0.5 }))).toBe('largest magnitude, 50\u202f% of the elements');
});
