#!/bin/sh
# define_dynamic_shared.sh READELF COMPILER OUTPUT [--source=FILE]... OBJECT...: runs before a program is linked.
# Defines the objects' undefined thread-local symbols, all at the same address, in OUTPUT.s and OUTPUT.o. This
# implements `extern __shared__ float tile[];`: every such array is the block's dynamic shared memory. With sources,
# only the objects of these contain kernels. Needs what g++ needs, so that bankcheck emulate needs no more either.
set -eu
readelf=$1 compiler=$2 output=$3
shift 3
line='
'
names=
for word do
  shift
  name=${word#--source=}
  name=${name##*/}
  case $word in
    --source=*) names=$names$line$name$line ;;
    *) case $names in '' | *"$line${name%.o*}$line"*) set -- "$@" "$word" ;; esac ;;
  esac
done
symbols=$("$readelf" --symbols --wide "$@")

bytes=232448  # 227 KiB, the maximum per block of any supported GPU
{
  printf '.section .tbss.bankwise_dynamic_shared,"awT",@nobits\n.balign 128\n'
  # Without symbols of the C and C++ libraries. Weak: a definition in another object of the program takes precedence.
  printf '%s\n' "$symbols" | sed -nE '/ UND +(_ZSt|__libc_|__resp|__h_errno|errno)/d
    s/.* TLS +(GLOBAL|WEAK) +DEFAULT +UND +([^ ]+).*/\2/p' | sort -u | sed 's/.*/.weak &\n.type &, @object\n&:/'
  printf '.globl bankwise_dynamic_shared\n.type bankwise_dynamic_shared, @object\n'
  printf '.size bankwise_dynamic_shared, %s\nbankwise_dynamic_shared:\n.zero %s\n' $bytes $bytes
  printf '.section .note.GNU-stack,"",@progbits\n'
} >"$output.s"
"$compiler" -c "$output.s" -o "$output.o"
