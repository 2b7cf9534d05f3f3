def double(number):
    return 2 * number
