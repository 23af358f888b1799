/* C, and no C++: `class` is a name, and a parameter has its type after the list. */
int of_c(value)
int value;
{
  int class = 2 * value;
  return class + 1;
}
